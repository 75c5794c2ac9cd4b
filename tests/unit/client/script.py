"""Conversations with servers that a test writes down."""

from croupier.client.conversation import Get, Post, Response, Server, Wait

SERVER = Server(url="https://reports.example", credential="letmein")


class Script:
    """Carries out a conversation with answers that a function gives, and notes every step."""

    def __init__(self, steps, answers):
        self.steps, self.outcome = [], None
        answer = None
        try:
            while True:
                step = steps.send(answer)
                self.steps.append(step)
                answer = None if isinstance(step, Wait) else answers(step, len(self.posts))
        except StopIteration as end:
            self.outcome = end.value

    @property
    def posts(self):
        return [step for step in self.steps if isinstance(step, Post)]

    @property
    def waits(self):
        return [step.seconds for step in self.steps if isinstance(step, Wait)]


def answering(key_list, *posts):
    """The key list for every Get; one answer after the other, the last for ever, for a Post."""

    def answer(step, number):
        if isinstance(step, Get):
            return Response(200, key_list)
        return posts[min(number, len(posts)) - 1]

    return answer
