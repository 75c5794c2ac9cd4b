"""Formulas from and to Bayes security that need no channel."""

import math

from croupier.errors import ParameterError
from croupier.numerics.validate import number_of_people, whole_number

__all__ = ["advantage_limit", "breach_ceiling", "cascade_floor", "curve_floor", "database_floor"]
__all__ += ["epsilon_of_success", "gaussian_security", "laplace_security", "parallel_floor"]
__all__ += ["private_floor", "response_security", "total_delta"]


def response_security(*, k: int, epsilon_local: float) -> float:
    """beta* of k-ary randomized response: k/(e^epsilon_local + k - 1), k the number of categories.

    Direction: exact.
    Reference: chatzikokolakis2023, Equation 7. Its example of a census puts the number of records,
        2,458,285, in the place of the 400 categories.

    >>> round(response_security(k=400, epsilon_local=3.3), 5)
    0.93872
    """
    whole_number("k", k, least=2)
    return k / (math.expm1(_exponent("epsilon_local", epsilon_local)) + k)


def laplace_security(*, sensitivity: float, scale: float) -> float:
    """beta* of Laplace noise: e^(-sensitivity/(2 scale)).

    Direction: exact, for noise of real numbers.
    Reference: chatzikokolakis2023, Proposition 3.

    >>> laplace_security(sensitivity=1, scale=1)
    0.606530659712...
    """
    return math.exp(-_ratio(sensitivity, scale) / 2)


def gaussian_security(*, sensitivity: float, scale: float) -> float:
    """beta* of Gaussian noise: 2 (1 - Phi(sensitivity/(2 scale))).

    Direction: exact, for noise of real numbers.
    Reference: chatzikokolakis2023, Proposition 4.

    >>> gaussian_security(sensitivity=1, scale=4.22467888933)
    0.9057886060...
    """
    return math.erfc(_ratio(sensitivity, scale) / math.sqrt(8))


def private_floor(epsilon: float, delta: float = 0.0) -> float:
    """beta* of an (epsilon, delta)-private channel is at least 2 (1 - delta)/(1 + e^epsilon).

    Attained by binary response at delta = 0. Weak after shuffling: there, use `curve_floor`.

    Direction: lower.
    Reference: chatzikokolakis2023, Theorem 5 and Corollary 2 (for a pair of neighbours).

    >>> private_floor(1.0)
    0.537882842739...
    """
    if not 0 <= delta <= 1:
        raise ParameterError("delta", must="be in [0, 1]", got=delta)
    return (1 - delta) * 2 / (1 + math.exp(_exponent("epsilon", epsilon)))


def curve_floor(delta_at_zero: float) -> float:
    """beta* from a privacy curve: at least 1 - delta(0), since delta(0) is the total variation.

    Direction: lower where the curve is an upper one; exact where it is exact.
    Reference: chatzikokolakis2023, Theorem 2.

    >>> curve_floor(0.25)
    0.75
    """
    if not 0 <= delta_at_zero <= 1:
        raise ParameterError("delta_at_zero", must="be in [0, 1]", got=delta_at_zero)
    return 1 - delta_at_zero


def total_delta(bayes_security: float) -> float:
    """A channel of that beta* is (0, 1 - beta*)-private.

    Direction: exact.
    Reference: chatzikokolakis2023, Proposition 2.

    >>> total_delta(0.75)
    0.25
    """
    return 1 - _security(bayes_security)


def epsilon_of_success(success: float) -> float:
    """The least epsilon that allows success V in the game of two secrets: ln(V/(1 - V)).

    V is the chance that the secret is guessed after a fair coin chose it; the best adversary has V
    = 1 - beta*/2.

    Direction: lower.
    Reference: chatzikokolakis2023, the game IND-LDP; its Equation 21 needs 1/(e^epsilon + 1).

    >>> epsilon_of_success(0.75)
    1.09861228866...
    """
    if not 0.5 <= success <= 1:
        raise ParameterError("success", must="be in [1/2, 1]", got=success)
    return math.inf if success == 1 else 2 * math.atanh(2 * success - 1)


def parallel_floor(*securities: float) -> float:
    """beta* of outputs shown side by side, with fresh noise: at least the product.

    Direction: lower.
    Reference: chatzikokolakis2023, Theorem 3.

    >>> parallel_floor(0.6, 0.6)
    0.36
    """
    return math.prod(map(_security, securities))


def cascade_floor(*securities: float) -> float:
    """beta* of a channel fed into the next: at least 1 - (1 - b1)(1 - b2)…, sharper than the max.

    The total variation of two inputs shrinks in each channel by its 1 - beta*, which is its
    contraction coefficient.

    Direction: lower.
    Reference: dobrushin1956; chatzikokolakis2023, Theorem 4, has only the largest of them.

    >>> round(cascade_floor(0.6, 0.5), 12)
    0.8
    """
    if 1 in map(_security, securities):
        return 1.0
    return -math.expm1(math.fsum(math.log1p(-security) for security in securities))


def breach_ceiling(*, secrets: int, told_apart: int) -> float:
    """The most that a breach leaves on average: (1 - told_apart/secrets)/(1 - 1/secrets).

    That is beta at the uniform prior if some `told_apart` of the secrets are told apart for
    certain, and it is attained. Hence a high beta at the uniform prior promises nothing to a pair.

    Direction: upper.
    Reference: chatzikokolakis2023, Theorem 7.

    >>> round(breach_ceiling(secrets=1000, told_apart=2), 6)
    0.998999
    """
    whole_number("secrets", secrets, least=2)
    whole_number("told_apart", told_apart, least=1, most=secrets)
    return (secrets - told_apart) / (secrets - 1)


def database_floor(*, values: int, records: int, epsilon: float) -> float:
    """The beta of an epsilon-private query at the uniform prior over all databases.

        (v^n - (v e^epsilon/(v - 1 + e^epsilon))^n) / (v^n - 1)

    for n `records` of v `values` each, every database as likely as any other.

    Direction: lower; attained by randomized response on every record.
    Reference: chatzikokolakis2023, Corollary 1.

    >>> database_floor(values=2, records=3, epsilon=1.0)
    0.696329365792...
    """
    whole_number("values", values, least=2)
    records = number_of_people("records", records, least=1)
    odds = math.exp(-_exponent("epsilon", epsilon))
    chance = -math.log1p((values - 1) * odds)  # ln of e^epsilon/(v - 1 + e^epsilon)
    return -math.expm1(records * chance) / -math.expm1(-records * math.log(values))


def advantage_limit(epsilon: float, *, published: bool = False) -> float:
    """The advantage of telling neighbours apart, at most (e^epsilon - 1)/(e^epsilon + 1).

    With `published`, the looser e^epsilon - 1 that is often cited instead.

    Direction: upper; attained by binary response.
    Reference: chatzikokolakis2023, Corollary 2; yeom2018, Theorem 1, for the looser one.

    >>> round(advantage_limit(1.0), 6), round(advantage_limit(1.0, published=True), 6)
    (0.462117, 1.718282)
    """
    exponent = _exponent("epsilon", epsilon)
    return math.expm1(exponent) if published else math.tanh(exponent / 2)


def _exponent(name: str, value: float) -> float:
    if not 0 <= value <= 700:
        raise ParameterError(name, must="be in [0, 700]", got=value)
    return value


def _ratio(sensitivity: float, scale: float) -> float:
    if not 0 <= sensitivity < math.inf:
        raise ParameterError("sensitivity", must="be finite and not negative", got=sensitivity)
    if not 0 < scale < math.inf:
        raise ParameterError("scale", must="be above 0", got=scale)
    return sensitivity / scale


def _security(value: float) -> float:
    if not 0 <= value <= 1:
        raise ParameterError("bayes_security", must="be in [0, 1]", got=value)
    return value
