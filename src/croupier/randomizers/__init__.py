"""Local mechanisms, one per file, each a table of integers."""

from croupier.randomizers.dictionary import Dictionary
from croupier.randomizers.distribution import Distribution
from croupier.randomizers.gaussian import DiscreteGaussian
from croupier.randomizers.hadamard import HadamardResponse
from croupier.randomizers.k_rr import KaryRandomizedResponse
from croupier.randomizers.laplace import DiscreteLaplace
from croupier.randomizers.local_hashing import LocalHashing
from croupier.randomizers.matrix import MatrixRandomizer
from croupier.randomizers.memoised import MemoisedResponse
from croupier.randomizers.one_bit_mean import OneBitMean
from croupier.randomizers.parallel import ParallelRandomizer
from croupier.randomizers.plain import Plain
from croupier.randomizers.rappor import Rappor
from croupier.randomizers.registry import MECHANISMS, parameters, randomizer
from croupier.randomizers.sampled_sign import SampledSign
from croupier.randomizers.subset_selection import SubsetSelection
from croupier.randomizers.text import Text
from croupier.randomizers.together import TogetherRandomizer
from croupier.randomizers.unary_encoding import OptimizedUnaryEncoding, SymmetricUnaryEncoding

__all__ = [
    "MECHANISMS",
    "Dictionary",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Distribution",
    "HadamardResponse",
    "KaryRandomizedResponse",
    "LocalHashing",
    "MatrixRandomizer",
    "MemoisedResponse",
    "OneBitMean",
    "OptimizedUnaryEncoding",
    "ParallelRandomizer",
    "Plain",
    "Rappor",
    "SampledSign",
    "SubsetSelection",
    "SymmetricUnaryEncoding",
    "Text",
    "TogetherRandomizer",
    "parameters",
    "randomizer",
]
