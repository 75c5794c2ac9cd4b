"""The parts of each paper that are missing here, or only partly reproduced."""

__all__ = ["LEFT_OUT"]

LEFT_OUT = {
    "s0": (
        (
            "Definition 5, others with arbitrary values: lower and upper bounds, the lower one "
            "for others who all hold one value. There is no exact value for a given mix."
        ),
        "The honeyword system: custom pairs of laws are compared in Python, by no command.",
        "The adversary A* and Lemmas 1 and 2: steps of proofs, with nothing to compute.",
    ),
    "s1": (
        "Theorem 4.2: `leakage.order` computes it; the trust ladder does not use it.",
        (
            "Groups by path length, and custom groups: in Python only. Commands take a "
            "radius, a number of neighbours or a column, and Euclidean distances."
        ),
        "Figures 1, 4, 5 and 8: synthetic people. In 4 and 8, only the two ends are compared.",
        "Figure 10: one number of people per run, and no radius 0.",
        "Ten trials with one standard deviation: replaced by the order statistics of six trials.",
        "The hospital, Twitch and Adult data, and the factors 2.7 and 1.7 found in them.",
        "Definition A.1, the loss for a given prior.",
        "The analyst's side: shares by place from a released batch.",
    ),
    "s2": (
        "Corollary 1: for the uniform prior only.",
        "R* >= beta* G: there is no separate function.",
        "Proposition 5: with the mean row only, not with an arbitrary row.",
        "Figures 1 and 7: with our own places, and with a synthetic census.",
        "Theorem 6 and the bounds of compositions by capacity: channels are composed exactly.",
        (
            "Section VII-D, bounds from samples and pruning by the triangle inequality: all pairs "
            "are tried."
        ),
        'The utility of 95 % and 99 %, the 0.96 of the sampling tool, and "above 0.9".',
    ),
    "s3": (
        (
            "Custom gain functions: only for explicit channels, of a few people; not for a batch "
            "of n."
        ),
        (
            "Custom priors: only for independent people. Where the exact sum is too large, as "
            "with 10 values and 1,000 people, there is an upper bound."
        ),
        "Hyper-distributions.",
    ),
    "s4": (
        "Delta-summation: for values 0 and 1, in Python only.",
        (
            "Theorem 4, the multinomial bound: plans are certified by clones, which is looser "
            "than the printed numbers (Table III)."
        ),
        "Subsampling: plans can be assessed, but not deployed.",
        (
            "Definition 14, blur: for lengths and counts, not for rounds; neither in plans nor in "
            "`croupier sidechannels table`."
        ),
        "Figure 4: with our own parameters.",
        (
            "Other protocols with several messages, the hierarchical randomizer over time, and "
            "key-value data."
        ),
        '"Saves 2 to 50 %", and the saving of 1 - sqrt(1/K).',
    ),
}
"""The omissions, by the first letters of the files of a paper."""
