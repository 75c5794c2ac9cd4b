"""What of each paper is not made anew, or only in part."""

__all__ = ["LEFT_OUT"]

LEFT_OUT = {
    "s0": (
        (
            "Definition 5, others who hold anything: a bracket, whose lower end is for others who "
            "all hold one value. There is no exact value for a given mix."
        ),
        "The honeyword system: two laws of one's own are compared in Python, by no command.",
        "The adversary A* and Lemmas 1 and 2: steps of proofs, with nothing to compute.",
    ),
    "s1": (
        "Theorem 4.2: `leakage.order` computes it; the trust ladder does not use it.",
        (
            "Groups by path length, and groups of one's own: in Python only. Commands take a "
            "radius, a number of neighbours or a column, and Euclidean distances."
        ),
        "Figures 1, 4, 5 and 8: on synthetic people. Of 4 and 8 only the two ends are compared.",
        "Figure 10: one number of people in a run, and no radius 0.",
        "Ten trials with one standard deviation: here six trials with their order statistics.",
        "The hospital, Twitch and Adult data, and the factors 2.7 and 1.7 found on them.",
        "Definition A.1, the loss for a given prior.",
        "The analyst's side: shares by place from a released batch.",
    ),
    "s2": (
        "Corollary 1: for the uniform prior only.",
        "R* >= beta* G: no function of its own.",
        "Proposition 5: with the mean row only, not with a row of one's own.",
        "Figures 1 and 7: at places of our own, and on a synthetic census.",
        "Theorem 6 and the bounds of compositions by capacity: channels are composed exactly.",
        (
            "Section VII-D, bounds from samples and pruning by the triangle inequality: all pairs "
            "are tried."
        ),
        'The utility of 95 % and 99 %, the 0.96 of the sampling tool, and "above 0.9".',
    ),
    "s3": (
        (
            "Gain functions of one's own: for channels that are written out, a handful of people; "
            "none for a batch of n."
        ),
        (
            "Priors of one's own: for independent people. Where the exact sum is too large, as "
            "with 10 values and 1,000 people, there is an upper bound."
        ),
        "Hyper-distributions.",
    ),
    "s4": (
        "Delta-summation: for values 0 and 1, in Python only.",
        (
            "Theorem 4, the multinomial way: plans are certified by clones, which is looser than "
            "the print (Table III)."
        ),
        "Subsampling: assessed, but no plan deploys it.",
        (
            "Definition 14, blur: of lengths and counts, not of rounds; in no plan and not in "
            "`croupier sidechannels table`."
        ),
        "Figure 4: at parameters of our own.",
        (
            "Other protocols of several messages, the hierarchical randomizer over time, key and "
            "value."
        ),
        '"Saves 2 to 50 %", and the saving of 1 - sqrt(1/K).',
    ),
}
"""By the first letters of the files of a paper."""
