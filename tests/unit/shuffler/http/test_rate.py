from croupier.shuffler.http.rate import RateLimit


def test_a_sender_is_limited_alone_and_forgotten_after_a_minute():
    now = 0.0
    limit = RateLimit(3, clock=lambda: now)
    assert [limit.allows(b"a", 2), limit.allows(b"a", 2), limit.allows(b"a", 1)] == [
        True,
        False,
        True,
    ]
    assert limit.allows(b"b", 3)
    now = 59.9
    assert not limit.allows(b"a", 1)
    now = 60.0
    assert limit.allows(b"a", 3)
