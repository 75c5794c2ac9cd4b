"""Writes the test vectors of docs/wire.md: ``python tests/vectors/make_wire.py > …/wire.json``.

The format is written here a second time, from the specification and RFC 9180 alone, with fixed
ephemeral keys, so that the file can be made again byte for byte. Of croupier it uses the plans.
"""

import hashlib
import hmac
import json
import sys

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from croupier.plan.plan import Plan

KEM_SUITE = b"KEM" + (0x0020).to_bytes(2, "big")
HPKE_SUITE = b"HPKE" + bytes.fromhex("002000010001")


def extract(suite, salt, label, material):
    labelled = b"HPKE-v1" + suite + label + material
    return hmac.digest(salt or bytes(32), labelled, "sha256")


def expand(suite, secret, label, info, length):
    labelled = length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    block = hmac.digest(secret, labelled + b"\x01", "sha256")
    return block[:length]  # one block of HKDF is enough for every length that is asked for


def shared_secret(exchanged, enc, public):
    secret = extract(KEM_SUITE, b"", b"eae_prk", exchanged)
    return expand(KEM_SUITE, secret, b"shared_secret", enc + public, 32)


def key_and_nonce(shared, info):
    context = (
        b"\x00"
        + extract(HPKE_SUITE, b"", b"psk_id_hash", b"")
        + extract(HPKE_SUITE, b"", b"info_hash", info)
    )
    secret = extract(HPKE_SUITE, shared, b"secret", b"")
    key = expand(HPKE_SUITE, secret, b"key", context, 16)
    return key, expand(HPKE_SUITE, secret, b"base_nonce", context, 12)


def hpke_seal(plaintext, public, info, ephemeral, aad=b""):
    private = X25519PrivateKey.from_private_bytes(ephemeral)
    enc = private.public_key().public_bytes_raw()
    exchanged = private.exchange(X25519PublicKey.from_public_bytes(public))
    key, nonce = key_and_nonce(shared_secret(exchanged, enc, public), info)
    return enc + AESGCM(key).encrypt(nonce, plaintext, aad)


def hpke_open(sealed, private, info, aad=b""):
    own = X25519PrivateKey.from_private_bytes(private)
    enc, ciphertext = sealed[:32], sealed[32:]
    exchanged = own.exchange(X25519PublicKey.from_public_bytes(enc))
    public = own.public_key().public_bytes_raw()
    key, nonce = key_and_nonce(shared_secret(exchanged, enc, public), info)
    return AESGCM(key).decrypt(nonce, ciphertext, aad)


def list_bytes(*, digest, batch, round_number, public, later=(), query=b""):
    """What everybody must have been shown: the receiver's key, then those of everybody after it."""
    return canonical(
        {
            "plan": digest.hex(),
            "round": round_number,
            "batch": batch.hex(),
            "query": query.hex(),
            "keys": [key.hex() for key in (public, *later)],
        }
    )


def batch_name(keys, **listed):
    """What public functions follow from: no key of the first shuffler is in it."""
    public, *later = keys
    return hashlib.sha256(list_bytes(**listed | {"public": public, "later": later})).hexdigest()


def info_bytes(*, role, label=b"croupier", version=b"\x02", **listed):
    fields = [label, version, role, hashlib.sha256(list_bytes(**listed)).digest()]
    return b"".join(len(field).to_bytes(2, "big") + field for field in fields)


def pack(bounds, report):
    widths = [max(1, (bound - 1).bit_length()) for bound in bounds]
    number = 0
    for width, entry in zip(widths, report, strict=True):
        if entry.bit_length() > width:
            raise ValueError(entry)
        number = number << width | entry
    size = -(-sum(widths) // 8)
    return (number << size * 8 - sum(widths)).to_bytes(size, "big")


def plaintext_bytes(bounds, report, size):
    if report is None:
        return b"\x02\x00".ljust(size, b"\0")
    return (b"\x02\x01" + pack(bounds, report)).ljust(size, b"\0")


def canonical(document):
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def signed(document, seed, purpose):
    signature = Ed25519PrivateKey.from_private_bytes(seed).sign(
        purpose + b"\0" + canonical(document)
    )
    return document | {"signature": signature.hex()}


def secret(name):
    """Thirty-two bytes that anybody can make again."""
    return hashlib.sha256(b"croupier test vector: " + name.encode()).digest()


def signing_pair(name):
    private = secret(name)
    public = Ed25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()
    return {"private": private.hex(), "public": public.hex()}


SIGNING_KEYS = {
    name: signing_pair(f"{name} signs")
    for name in (
        *("shuffler", "analyzer", "other"),
        *("release", "next release", "intake", "next intake"),
        *("second", "second release", "second intake"),
    )
}
ROTATED = 4
"""The round from which the keys of release and intake are others."""
GRID = {"low": 0, "high": 5, "step": 1}
QUESTIONS = {
    "k-rr": {"mechanism": "k-rr", "k": 10, "max_epsilon_local": 2.0},
    "memoised-k-rr": {
        "mechanism": "memoised-k-rr",
        "k": 10,
        "max_epsilon_local": 2.0,
        "max_epsilon_permanent": 6.0,
    },
    "symmetric-unary": {"mechanism": "symmetric-unary", "k": 11, "max_epsilon_local": 2.0},
    "optimized-unary": {"mechanism": "optimized-unary", "k": 8, "max_epsilon_local": 2.0},
    "rappor": {"mechanism": "rappor", "k": 5, "bits": 32, "max_epsilon_local": 2.0},
    "local-hashing": {
        "mechanism": "local-hashing",
        "k": 100,
        "buckets": 6,
        "max_epsilon_local": 2.0,
    },
    "dictionary": {"mechanism": "dictionary", "k": 10**7, "max_epsilon_local": 2.0},
    "text": {
        "mechanism": "text",
        "longest": 4,
        "alphabet": "a\u00e9\U0001f600",
        "normalisation": "nfc",
        "levels": [1, 4],
        "functions": 64,
        "max_epsilon_local": 2.0,
    },
    "distribution": {
        "mechanism": "distribution",
        "grid": {"low": 0, "high": 100, "step": 1},
        "max_epsilon_local": 2.0,
    },
    "hadamard": {"mechanism": "hadamard", "k": 10, "max_epsilon_local": 2.0},
    "subset-selection": {
        "mechanism": "subset-selection",
        "k": 10,
        "subset_size": 3,
        "max_epsilon_local": 2.0,
    },
    "laplace": {"mechanism": "laplace", "grid": GRID, "max_epsilon_local": 2.0},
    "gaussian": {"mechanism": "gaussian", "grid": GRID, "max_epsilon_local": 2.0},
    "one-bit-mean": {"mechanism": "one-bit-mean", "grid": GRID, "max_epsilon_local": 2.0},
    "sampled-sign": {"mechanism": "sampled-sign", "dimension": 12, "max_epsilon_local": 2.0},
    "matrix": {"mechanism": "matrix", "matrix": [[5, 2, 1], [1, 2, 5]]},
}
BASE = {
    "schema": 2,
    "population": {"enrolled": 100},
    "protections": {"minimum_batch": 50},
    "guarantee": {"delta": 1e-4},
    "shufflers": [{"key": SIGNING_KEYS["shuffler"]["public"]}],
    "analyzer": {"key": SIGNING_KEYS["analyzer"]["public"]},
}
THREE = [QUESTIONS[name] for name in ("k-rr", "local-hashing", "subset-selection")]
PLANS = {name: BASE | {"randomizer": question} for name, question in QUESTIONS.items()} | {
    "parallel": BASE
    | {"questions": THREE[:2], "participation": {"model": "rectified-parallel", "weights": [1, 3]}},
    "together": BASE | {"questions": THREE, "participation": {"model": "together"}},
    "multinomial": BASE | {"questions": THREE, "participation": {"model": "rectified-multinomial"}},
    "mallows": BASE
    | {
        "randomizer": QUESTIONS["k-rr"],
        "shuffling": {
            "order": "mallows",
            "alpha": 4.0,
            "groups": {"sha256": "ab" * 32, "sensitivity": 16},
        },
    },
    "adaptive": BASE
    | {
        "randomizer": QUESTIONS["k-rr"],
        "participation": {"model": "rectified-multinomial", "weights": 3},
    },
    "worded": BASE
    | {
        "title": "Which shoes?",
        "purpose": "Decide which sizes to stock → €.",
        "record": {"controller": "Example Ltd"},
        "randomizer": QUESTIONS["k-rr"] | {"name": "shoes", "text": "Which size → €?"},
        "shufflers": [{"operator": "Example Foundation"} | BASE["shufflers"][0]],
        "analyzer": {"operator": "Example Ltd"} | BASE["analyzer"],
    },
    "long": BASE
    | {"randomizer": QUESTIONS["k-rr"], "protections": {"minimum_batch": 50, "report_size": 100}},
    "two-shufflers": BASE
    | {
        "randomizer": {"mechanism": "plain", "k": 10},
        "shufflers": [
            {
                "operator": "Example Foundation",
                "key": SIGNING_KEYS["shuffler"]["public"],
                "dummies": {"epsilon": 1.0, "delta": 1e-8},
            },
            {
                "operator": "Example Institute",
                "key": SIGNING_KEYS["second"]["public"],
                "dummies": {"epsilon": 2.0, "delta": 0.07, "weights": [1, 6, 15, 20, 15, 6, 1]},
                "keep": 0.5,
            },
        ],
    },
}
ROUNDS = {"multinomial": range(4)}


def key_pair(name):
    private = secret(name)
    public = X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()
    return {"private": private.hex(), "public": public.hex()}


KEYS = {name: key_pair(name) for name in ("analyzer", "shuffler", "other", "second")}
BATCH, OTHER_BATCH = secret("batch")[:16], secret("other batch")[:16]


def form(plan, round_number):
    """The bounds of a report, and whether it ascends."""
    if plan.participation_model.one_batch:
        made = plan.randomizer.report_format
    else:
        made = plan.randomizers[round_number % len(plan.randomizers)].report_format
    return list(made.bounds), made.ascending


def examples(bounds, *, ascending, shorter=None, together=False):
    """The least and the greatest report; for parallel questions, the greatest of each."""
    if together:  # k-rr, local-hashing, subset-selection
        [seed] = bounds[1:2]
        return [[0, 0, 0, 0, 1, 2], [9, seed - 1, 5, 7, 8, 9]]
    if ascending:
        return [[*range(len(bounds))], [*range(bounds[0] - len(bounds), bounds[0])]]
    greatest = [bound - 1 for bound in bounds]
    return [[0] * len(bounds), *([[0, *shorter]] if shorter else []), greatest]


def good_reports(made):
    for name, plan in made.items():
        for round_number in ROUNDS.get(name, (0,)):
            bounds, ascending = form(plan, round_number)
            # The first of two parallel questions has one integer below 10; the rest is padding.
            shorter = [9, 0] if name == "parallel" else None
            together = name == "together"
            chosen = examples(bounds, ascending=ascending, shorter=shorter, together=together)
            for report in [None, *chosen]:
                data = plaintext_bytes(bounds, report, plan.protections.report_size)
                yield {
                    "plan": name,
                    "round": round_number,
                    "bounds": bounds,
                    "ascending": ascending,
                    "report": report,
                    "plaintext": data.hex(),
                }


HIDDEN = (
    *("\0", "\n", "\x1b", "\x1f", "\x7f", "\x9f", "\xad", "\u061c", "\u200b", "\u200e", "\u200f"),
    *("\u2028", "\u202e", "\u2060", "\u2066", "\u206f", "\ufeff", "\ud800", "\udfff"),
    *("\U000e0000", "\U000e007f"),
)
BLANK = ("", " ", "\xa0", "\u2003", "\u3000", "\u2800", "\u3164", "\u200d", "\ufe0f", "\U000e0100")
MOST = {"title": 200, "purpose": 2000, "text": 1000, "operator": 200}


def plan_with(key, words):
    """The plan with words, with others in one place."""
    document = json.loads(Plan.from_document(PLANS["worded"]).canonical)
    question = document["questions"][0]
    if key == "labels":
        del question["k"]
        question["labels"] = ["no", words]
    else:
        table = question if key in {"name", "text"} else document
        (document["analyzer"] if key == "operator" else table)[key] = words
    return canonical(document).decode()


def plan_with_names(*names):
    document = json.loads(Plan.from_document(PLANS["worded"]).canonical)
    (question,) = document["questions"]
    del question["name"]
    document["questions"] = [question | ({"name": name} if name else {}) for name in names]
    document["participation"]["weights"] = len(names)
    return canonical(document).decode()


def good_words():
    """Words that every reader of a plan accepts."""
    for words in ("a b", "क\u094d\u200dष", "👩\u200d🔬 ❤\ufe0f", "\u0647\u200d", "日本\u3000語"):
        yield {"what": f"title {words!a}", "canonical": plan_with("title", words)}
    for key, most in MOST.items():
        yield {"what": f"{key} of {most}", "canonical": plan_with(key, "👟" * most)}
    for name in ("a", "0", "a-b_c", "a" * 64):
        yield {"what": f"name {name}", "canonical": plan_with("name", name)}
    yield {"what": "label", "canonical": plan_with("labels", "a b")}
    yield {"what": "two names", "canonical": plan_with_names("question-2", "a")}


def bad_words_of_plans():
    """Words that nobody may be shown: each plan differs in one text from one that is read."""
    hidden = [f"a{sign}b" for sign in HIDDEN]
    padded = [*(f"{blank}a" for blank in BLANK[1:]), "a ", "a\xa0", "a\u3164"]
    for words in (*hidden, *BLANK, *padded):
        yield {"what": f"title {words!a}", "canonical": plan_with("title", words)}
    for key in ("purpose", "text", "labels", "operator"):
        for words in ("a\x1bb", "a\u202eb", "", "a "):
            yield {"what": f"{key} {words!a}", "canonical": plan_with(key, words)}
    for key, most in MOST.items():
        yield {"what": f"{key} of {most + 1}", "canonical": plan_with(key, "a" * (most + 1))}
    for name in ("", "A", "a b", "-a", "a-", "a--b", "é", "a\n", "a" * 65, 7):
        yield {"what": f"name {name!a}", "canonical": plan_with("name", name)}
    for names in (("a", "a"), ("question-2", None)):
        yield {"what": "the same name", "canonical": plan_with_names(*names)}


def bad_reports(made):
    def entry(name, reason, data, round_number=0):
        return {"plan": name, "round": round_number, "reason": reason, "plaintext": data.hex()}

    good = bytearray(plaintext_bytes([10], [9], 32))

    def altered(place, byte):
        changed = bytearray(good)
        changed[place] = byte
        return bytes(changed)

    yield entry("k-rr", "length", b"")
    yield entry("k-rr", "length", good[:-1])
    yield entry("k-rr", "length", good + b"\0")
    for version in (0, 1, 3, 255):
        yield entry("k-rr", "version", altered(0, version))
    for kind in (2, 128, 255):
        yield entry("k-rr", "kind", altered(1, kind))
    for place in (3, 31):
        yield entry("k-rr", "padding", altered(place, 1))
    null = bytearray(plaintext_bytes([10], None, 32))
    null[2] = 0x10
    yield entry("k-rr", "padding", null)
    yield entry("k-rr", "body", altered(2, 0xA0))  # 10 is not below 10
    yield entry("k-rr", "body", altered(2, 0x91))  # a stray bit behind the integer
    for name, report in {
        "subset-selection": [3, 2, 5],
        "sampled-sign": [12, 0],
        "matrix": [3],
        "laplace": [form(made["laplace"], 0)[0][0]],
        "local-hashing": [0, form(made["local-hashing"], 0)[0][1]],
        "parallel": [0, 9, 1],  # the first question has one integer, the rest must be zero
        "together": [9, 0, 5, 7, 9, 8],  # the set of the third question does not ascend
    }.items():
        yield entry(name, "body", plaintext_bytes(form(made[name], 0)[0], report, 32))
    seed = form(made["local-hashing"], 0)[0][0]
    yield entry("local-hashing", "body", plaintext_bytes([seed, 6], [seed, 0], 32))
    # A report of one round in another: the second question's where the first is asked.
    longer = plaintext_bytes(form(made["multinomial"], 1)[0], [1, 1], 32)
    yield entry("multinomial", "padding", longer)
    repeated = plaintext_bytes(form(made["multinomial"], 2)[0], [4, 4, 5], 32)
    yield entry("multinomial", "body", repeated, 2)


def query_digest(plan, round_number):
    """What a round of the adaptive plan asks, as far as seals are bound to it."""
    document = signed(query_entries(plan, round_number), seed("query"), PURPOSES["query"])
    return hashlib.sha256(canonical(document)).digest()


def query_entries(plan, round_number):
    question = "crashed since build 4711? \u2192 ja/nein"
    return {"kind": "query", "plan": plan.digest, "round": round_number, "question": question}


def sealed(plan, *, name, round_number=0, batch=BATCH, owner=None, inner=None, **changes):
    """An envelope and what is in it; `changes` are made to what the outer seal is bound to."""
    digest = bytes.fromhex(plan.digest)
    bounds, ascending = form(plan, round_number)
    together = len(plan.questions) > 1 and plan.participation_model.answers_all
    report = examples(bounds, ascending=ascending, together=together)[-1]
    data = plaintext_bytes(bounds, report, plan.protections.report_size)
    public = analyzer = bytes.fromhex(KEYS["analyzer"]["public"])
    binding = {"digest": digest, "batch": batch, "round_number": round_number}
    if plan.participation_model.adaptive and len(plan.randomizers) == 1:
        binding["query"] = query_digest(plan, round_number)
    if inner is None:
        info = info_bytes(role=b"inner", public=public, **binding)
        inner = hpke_seal(data, public, info, secret(f"inner of {name}"))
    public = bytes.fromhex(KEYS["shuffler"]["public"])
    outer = {"role": b"outer", "public": public, "later": [analyzer]}
    info = info_bytes(**outer | binding | changes)
    place = b"" if owner is None else owner.to_bytes(8, "big")
    envelope = hpke_seal(inner + place, public, info, secret(f"outer of {name}"))
    return {"plaintext": data, "inner": inner, "envelope": envelope}


def good_envelopes(made):
    cases = [
        ("k-rr", 0, None),
        ("k-rr", 2**31 - 1, None),
        ("long", 7, None),
        ("multinomial", 4, None),
        ("mallows", 0, 0),
        ("mallows", 1, 2**64 - 1),
        ("adaptive", 2, None),
    ]
    for name, number, owner in cases:
        label = f"{name} {number}"
        parts = sealed(made[name], name=label, round_number=number, owner=owner)
        yield {
            "plan": name,
            "round": number,
            "batch": BATCH.hex(),
            "owner": owner,
            "query": query_digest(made[name], number).hex() if name == "adaptive" else "",
            "inner_ephemeral": secret(f"inner of {label}").hex(),
            "outer_ephemeral": secret(f"outer of {label}").hex(),
        } | {part: data.hex() for part, data in parts.items()}


def bad_envelopes(made):
    """What the shuffler refuses: each differs in one thing from an envelope that opens."""
    plan = made["k-rr"]
    good = sealed(plan, name="k-rr 0")["envelope"]

    def entry(what, data, *, reason="seal", key="shuffler", **opened):
        case = {"what": what, "plan": "k-rr", "round": 0, "batch": BATCH.hex(), "key": key}
        return case | {"reason": reason, "envelope": data.hex()} | opened

    places = {
        "ephemeral key, first bit": 7,
        "ephemeral key, last bit": 31 * 8,
        "inner ephemeral key": 32 * 8,
        "inner ciphertext": 64 * 8,
        "inner tag": 96 * 8,
        "tag, first bit": 112 * 8,
        "tag, last bit": 128 * 8 - 1,
    }
    for what, bit in places.items():
        changed = bytearray(good)
        changed[bit // 8] ^= 0x80 >> bit % 8
        yield entry(f"flipped: {what}", bytes(changed))
    yield entry("zero ephemeral key", bytes(32) + good[32:])
    yield entry("empty", b"", reason="length")
    yield entry("truncated", good[:-1], reason="length")
    yield entry("extended", good + b"\0", reason="length")
    yield entry("only the inner seal", sealed(plan, name="k-rr 0")["inner"], reason="length")
    yield entry("opened with another key", good, key="other")
    yield entry("opened for another batch", good, batch=OTHER_BATCH.hex())
    yield entry("opened for another round", good, round=1)
    yield entry("opened for another plan", good, plan="matrix")
    yield entry("opened for another analyzer", good, analyzer=KEYS["other"]["public"])
    other = bytes.fromhex(KEYS["other"]["public"])
    changes = {
        "role inner": {"role": b"inner"},
        "another label": {"label": b"Croupier"},
        "another version": {"version": b"\x01"},
        "another key of the shuffler": {"public": other},
        "another key of the analyzer": {"later": [other]},
        "no key of the analyzer": {"later": []},
        "one key more": {"later": [bytes.fromhex(KEYS["analyzer"]["public"]), other]},
        "a query where the plan asks": {"query": secret("a query")},
        "another batch": {"batch": OTHER_BATCH},
        "another round": {"round_number": 256},
        "another plan": {"digest": bytes.fromhex(made["matrix"].digest)},
    }
    for what, change in changes.items():
        yield entry(f"bound to {what}", sealed(plan, name=what, **change)["envelope"])
    placed = sealed(plan, name="owner", owner=3)["envelope"]
    yield entry("with an owner where none belongs", placed, reason="length")
    other = {"plan": "adaptive", "query": secret("another query").hex()}
    asked = sealed(made["adaptive"], name="adaptive 0")["envelope"]
    yield entry("answering another query", asked, **other)
    bare = sealed(made["mallows"], name="no owner")["envelope"]
    yield entry("without the owner", bare, reason="length", plan="mallows")


def bad_inner(made):
    """What the analyzer refuses, although the shuffler opened the envelope."""
    plan = made["k-rr"]
    good = sealed(plan, name="k-rr 0")["inner"]
    flipped = good[:-1] + bytes([good[-1] ^ 1])
    foreign = sealed(plan, name="elsewhere", batch=OTHER_BATCH)["inner"]
    later = sealed(plan, name="later", round_number=1)["inner"]
    for what, inner in {
        "flipped tag": flipped,
        "from another batch": foreign,
        "from another round": later,
        "random bytes": secret("noise") + secret("more noise") + secret("most noise")[:16],
    }.items():
        envelope = sealed(plan, name=what, inner=inner)["envelope"]
        yield {"what": what, "plan": "k-rr", "round": 0, "batch": BATCH.hex()} | {
            "reason": "seal",
            "inner": inner.hex(),
            "envelope": envelope.hex(),
        }


def infos(made):
    analyzer = bytes.fromhex(KEYS["analyzer"]["public"])
    for role, key, later in (("inner", "analyzer", []), ("outer", "shuffler", [analyzer])):
        for name, number in (("k-rr", 0), ("k-rr", 258), ("adaptive", 1)):
            plan = made[name]
            asked = query_digest(plan, number) if name == "adaptive" else b""
            listed = {
                "digest": bytes.fromhex(plan.digest),
                "batch": BATCH,
                "round_number": number,
                "public": bytes.fromhex(KEYS[key]["public"]),
                "later": later,
                "query": asked,
            }
            yield {
                "plan": name,
                "round": number,
                "batch": BATCH.hex(),
                "query": asked.hex(),
                "role": role,
                "key": key,
                "list": list_bytes(**listed).decode(),
                "info": info_bytes(role=role.encode(), **listed).hex(),
                "batch_name": batch_name([analyzer], **listed),
            }


def unsigned(made):
    """A document of every kind, for one plan."""
    plan = {"plan": made["k-rr"].digest}
    return {
        "shuffler": plan
        | {
            "kind": "shuffler",
            "round": 3,
            "batch": BATCH.hex(),
            "key": KEYS["shuffler"]["public"],
            "analyzer": KEYS["analyzer"]["public"],
        },
        "analyzer": plan | {"kind": "analyzer", "key": KEYS["analyzer"]["public"]},
        "not accepted": plan
        | {
            "kind": "not accepted",
            "batch": BATCH.hex(),
            "sent": sent_digest(SENT["authorization"], bytes.fromhex(SENT["body"])),
        },
        "query": query_entries(made["adaptive"], 1),
        "shuffler keys": list_entries(made["k-rr"]),
        "superseded": pointer_entries(made["k-rr"], made["matrix"]),
    }


def pointer_entries(plan, successor):
    """The word that another plan took the place of a plan."""
    return {
        "plan": plan.digest,
        "kind": "superseded",
        "successor": successor.digest,
        "date": "2026-12-01",
    }


def list_entries(plan):
    """The keys of the shuffler by role, two of each."""
    release, intake = (
        [
            {"from_round": number, "key": SIGNING_KEYS[name]["public"]}
            for number, name in ((0, role), (ROTATED, f"next {role}"))
        ]
        for role in ("release", "intake")
    )
    return {
        "plan": plan.digest,
        "kind": "shuffler keys",
        "version": 2,
        "release": release,
        "intake": [entry | {"seal": KEYS["other"]["public"]} for entry in intake],
    }


SENT = {"authorization": "Bearer letmein", "body": (secret("envelope") * 4).hex()}


def sent_digest(authorization, body):
    value = authorization.encode()
    return hashlib.sha256(len(value).to_bytes(2, "big") + value + body).hexdigest()


PURPOSES = {
    "shuffler": b"croupier key list",
    "analyzer": b"croupier key list",
    "not accepted": b"croupier refusal",
    "query": b"croupier query",
    "shuffler keys": b"croupier shuffler keys",
    "superseded": b"croupier superseded",
}
SIGNERS = {
    "shuffler": "release",
    "analyzer": "analyzer",
    "not accepted": "intake",
    "query": "analyzer",
    "shuffler keys": "shuffler",
    "superseded": "shuffler",
}


def seed(kind):
    return private(SIGNERS[kind])


def private(name):
    return bytes.fromhex(SIGNING_KEYS[name]["private"])


def plan_of(kind):
    return "adaptive" if kind == "query" else "k-rr"


def judged(made, **changes):
    """The analyzer's key with its word on the policy."""
    word = {"judgement": "met", "judged": secret("policy").hex(), "despite_policy": False}
    return unsigned(made)["analyzer"] | {"policy": word | changes}


def good_documents(made):
    for kind, entries in unsigned(made).items():
        document = signed(entries, seed(kind), PURPOSES[kind])
        yield {"kind": kind, "plan": plan_of(kind), "round": 3, "document": document}
    yield from by_round(made, {"next": ROTATED, "root": 3})
    for judgement, despite in (("met", False), ("not met", True), ("no limit set", True)):
        organisation = {"organisation": secret("organisation").hex()} if not despite else {}
        entries = judged(made, judgement=judgement, despite_policy=despite, **organisation)
        document = signed(entries, seed("analyzer"), PURPOSES["analyzer"])
        yield {"kind": "analyzer", "plan": "k-rr", "round": 3, "document": document}


def by_round(made, rounds):
    """Openings and refusals of rounds, signed by the next key, the root, or one that may not."""
    for kind, role in (("shuffler", "release"), ("not accepted", "intake")):
        other = {"release": "intake", "intake": "release"}[role]
        signers = {"next": f"next {role}", "root": "shuffler", "old": role, "other role": other}
        for signer, number in rounds.items():
            entries = unsigned(made)[kind] | ({"round": number} if kind == "shuffler" else {})
            document = signed(entries, private(signers[signer]), PURPOSES[kind])
            yield {
                "what": f"{kind}: of round {number} by {signer}",
                "kind": kind,
                "plan": "k-rr",
                "round": number,
                "document": document,
            }


def bad_lists(made):
    """Lists of keys that the root signed, and that nobody may believe."""
    good = list_entries(made["k-rr"])
    first, second = good["release"]
    low, high = good["intake"]
    for what, changes in {
        "no key of release": {"release": []},
        "no key of intake": {"intake": []},
        "a first round that is not 0": {"release": [first | {"from_round": 1}, second]},
        "rounds that do not rise": {"intake": [low, high | {"from_round": 0}]},
        "rounds that fall": {"release": [first, second, second | {"from_round": 1}]},
        "an entry without its seal": {"intake": [first, high]},
        "an entry with a seal too many": {"release": [low, second]},
        "a version of 0": {"version": 0},
        "a version in words": {"version": "2"},
        "a version that is true": {"version": True},
        "a round of 2^31": {"release": [first, second | {"from_round": 2**31}]},
    }.items():
        yield what, signed(good | changes, private("shuffler"), PURPOSES["shuffler keys"])
    for name in ("release", "intake", "analyzer"):
        yield f"signed by {name}", signed(good, private(name), PURPOSES["shuffler keys"])


def bad_words(made):
    """The analyzer's key with a word on the policy that is not to be believed."""
    key, purpose = seed("analyzer"), PURPOSES["analyzer"]
    good = signed(judged(made), key, purpose)
    for what, changes in {
        "altered judgement": {"judgement": "not met"},
        "altered digest of the policy": {"judged": secret("another policy").hex()},
        "altered to run despite the policy": {"despite_policy": True},
    }.items():
        yield what, good | {"policy": good["policy"] | changes}
    yield (
        "a word that was not signed",
        signed(judged(made), key, purpose)
        | {"signature": signed(unsigned(made)["analyzer"], key, purpose)["signature"]},
    )
    yield "without its word", {name: good[name] for name in good if name != "policy"}
    for what, changes in {
        "an unknown judgement": {"judgement": "fine"},
        "a number for a truth": {"despite_policy": 0},
        "one entry more in the word": {"more": 1},
    }.items():
        yield what, signed(judged(made, **changes), key, purpose)
    short = judged(made)
    del short["policy"]["judged"]
    yield "one entry less in the word", signed(short, key, purpose)
    for what, word in (("null for a word", None), ("a text for a word", "met")):
        yield what, signed(unsigned(made)["analyzer"] | {"policy": word}, key, purpose)


def bad_documents(made):
    for kind, entries in unsigned(made).items():
        good = signed(entries, seed(kind), PURPOSES[kind])
        other = bytes.fromhex(SIGNING_KEYS["other"]["private"])
        wrong = {"plan": made["matrix"].digest, "batch": OTHER_BATCH.hex(), "round": 4}
        wrong |= {
            "key": KEYS["other"]["public"],
            "analyzer": KEYS["other"]["public"],
            "kind": "other",
            "question": "who are you?",
            "version": 3,
            "release": list_entries(made["k-rr"])["release"][:1],
            "intake": list_entries(made["k-rr"])["intake"][:1],
        }
        wrong |= {"sent": sent_digest("Bearer another", bytes.fromhex(SENT["body"]))}
        wrong |= {"successor": made["adaptive"].digest, "date": "2026-12-02"}
        cases = {f"altered {name}": good | {name: wrong[name]} for name in entries}
        cases |= {
            f"without {name}": {entry: good[entry] for entry in good if entry != name}
            for name in good
        }
        cases |= {
            "signed by a stranger": signed(entries, other, PURPOSES[kind]),
            "signed for another purpose": signed(entries, seed(kind), b"croupier receipt"),
            "signed for another plan": signed(
                entries | {"plan": made["matrix"].digest}, seed(kind), PURPOSES[kind]
            ),
            "one entry more": signed(entries | {"more": 1}, seed(kind), PURPOSES[kind]),
            "upper case": signed(
                entries | {"plan": entries["plan"].upper()}, seed(kind), PURPOSES[kind]
            ),
        }
        for what, document in cases.items():
            case = {"what": f"{kind}: {what}", "kind": kind, "plan": plan_of(kind), "round": 3}
            yield case | {"document": document}
    for kind, cases in (("analyzer", bad_words(made)), ("shuffler keys", bad_lists(made))):
        for what, document in cases:
            case = {"what": f"{kind}: {what}", "kind": kind, "plan": "k-rr", "round": 3}
            yield case | {"document": document}
    yield from by_round(made, {"next": ROTATED - 1, "old": ROTATED, "other role": 3})


def pointer_text(plan, pointer, /, *, text=None, **changes):
    """What is served in place of a superseded plan: its text, and the pointer."""
    text = plan.canonical.decode() if text is None else text
    served = {"schema_version": 2, "plan": text, "superseded": pointer} | changes
    return canonical({name: entry for name, entry in served.items() if entry is not None}).decode()


def signed_pointer(plan, successor, signer="shuffler", /, **changes):
    entries = pointer_entries(plan, successor) | changes
    entries = {name: entry for name, entry in entries.items() if entry is not None}
    return signed(entries, private(signer), PURPOSES["superseded"])


def good_pointers(made):
    old, new = made["k-rr"], made["matrix"]
    for date in ("2026-12-01", None):
        text = pointer_text(old, signed_pointer(old, new, date=date))
        yield {"plan": "k-rr", "text": text, "successor": new.digest, "date": date}


def bad_pointers(made):
    """Answers that must send nobody away."""
    old, new = made["k-rr"], made["matrix"]
    good = signed_pointer(old, new)
    for signer in ("release", "intake", "analyzer", "other"):
        yield f"signed by {signer}", pointer_text(old, signed_pointer(old, new, signer))
    yield "of another plan", pointer_text(new, signed_pointer(new, old))
    yield "of another plan, with this text", pointer_text(old, signed_pointer(new, old))
    yield "with the text of another plan", pointer_text(new, good)
    own, stranger = (SIGNING_KEYS[name]["public"] for name in ("shuffler", "other"))
    text = old.canonical.decode().replace(own, stranger)
    changed = {"plan": hashlib.sha256(text.encode()).hexdigest()}
    for what, more in (("", {}), (", and the digest of that text", changed)):
        forged = signed_pointer(old, new, "other", **more)
        yield f"with a stranger as root{what}", pointer_text(old, forged, text=text)
    yield "of a text that is no plan", pointer_text(old, good, text="{}")
    yield "of a text that is not JSON", pointer_text(old, good, text="plan")
    yield "to the same plan", pointer_text(old, signed_pointer(old, old))
    yield "another successor", pointer_text(old, good | {"successor": made["adaptive"].digest})
    yield "a date in words", pointer_text(old, signed_pointer(old, new, date="in December"))
    yield "another version", pointer_text(old, good, schema_version=1)
    yield "no version", pointer_text(old, good, schema_version=None)
    yield "no text", pointer_text(old, good, plan=None)
    yield "no pointer", pointer_text(old, None)
    yield "a pointer in words", pointer_text(old, new.digest)
    yield "one entry more", pointer_text(old, good, more=1)
    yield "only the pointer", canonical(good).decode()
    yield "a refusal", canonical({"schema_version": 1, "error": "The batch is closed."}).decode()
    yield "empty", ""
    yield "not JSON", "410"


def two_shufflers(plan, other):
    """Of two shufflers in a row: what their layers are bound to, and what their lists must say."""
    return {
        "plan": "two-shufflers",
        "cost": {"epsilon": 2.0, "delta": 0.07},
        "info": [*infos_of_two(plan)],
        "envelopes": [*good_envelopes_of_two(plan)],
        "refused_layers": [*bad_layers_of_two(plan)],
        "lists": {
            "shuffler": signed_by("shuffler", keys_of_two(plan, 0), "shuffler keys"),
            "second": signed_by("second", keys_of_two(plan, 1), "shuffler keys"),
        },
        "key_lists": [
            {"rounds": rounds, "text": canonical(key_list_of_two(plan, *rounds)).decode()}
            for rounds in ([], [3], [3, 4])
        ],
        "refused_key_lists": [
            {"what": what, "text": canonical(document).decode()}
            for what, document in bad_key_lists_of_two(plan, other)
        ],
        "refused_plans": [*bad_plans_of_two(plan)],
        "refused_tables": [*bad_tables_of_two(plan)],
    }


def public_of(name):
    return bytes.fromhex(KEYS[name]["public"])


LAYERS = {
    "inner": ("analyzer", []),
    "second": ("second", ["analyzer"]),
    "outer": ("shuffler", ["second", "analyzer"]),
}
"""The receiver of each layer, and everybody after it."""


def layer_of_two(plan, role, round_number):
    """Everything that a layer is bound to."""
    receiver, after = LAYERS[role]
    return {
        "role": role.encode(),
        "digest": bytes.fromhex(plan.digest),
        "batch": BATCH,
        "round_number": round_number,
        "public": public_of(receiver),
        "later": [public_of(name) for name in after],
    }


def infos_of_two(plan):
    for role, (key, _) in LAYERS.items():
        binding = layer_of_two(plan, role, 258)
        listed = {name: value for name, value in binding.items() if name != "role"}
        yield {
            "plan": "two-shufflers",
            "round": 258,
            "batch": BATCH.hex(),
            "role": role,
            "key": key,
            "list": list_bytes(**listed).decode(),
            "info": info_bytes(**binding).hex(),
            "batch_name": batch_name([public_of("second"), public_of("analyzer")], **listed),
        }


def sealed_for_two(plan, *, name, round_number=0, **changes):
    """The layers of an envelope, from the inside; `changes` are made to the binding of a layer."""
    bounds, _ = form(plan, round_number)
    data = plaintext_bytes(bounds, [bounds[0] - 1], plan.protections.report_size)
    parts = {"plaintext": data}
    for role, (receiver, _) in LAYERS.items():
        info = info_bytes(**layer_of_two(plan, role, round_number) | changes.get(role, {}))
        data = hpke_seal(data, public_of(receiver), info, secret(f"{role} of {name}"))
        parts["envelope" if role == "outer" else role] = data
    return parts


def good_envelopes_of_two(plan):
    for number in (0, 2**31 - 1):
        label = f"two {number}"
        parts = sealed_for_two(plan, name=label, round_number=number)
        yield {
            "plan": "two-shufflers",
            "round": number,
            "batch": BATCH.hex(),
            "ephemerals": {role: secret(f"{role} of {label}").hex() for role in LAYERS},
        } | {part: data.hex() for part, data in parts.items()}


def bad_layers_of_two(plan):
    """What each shuffler refuses: each differs in one thing from a layer that opens."""
    good = sealed_for_two(plan, name="two 0")

    def entry(what, layer, data, *, key=None, reason="seal", **opened):
        case = {"what": f"{layer}: {what}", "layer": layer, "plan": "two-shufflers"}
        case |= {"round": 0, "batch": BATCH.hex(), "key": key or LAYERS[layer][0]}
        return case | {"reason": reason, "sealed": data.hex()} | opened

    part = {"outer": "envelope", "second": "second"}
    other = KEYS["other"]["public"]
    for layer in part:
        whole = good[part[layer]]
        yield entry("flipped", layer, whole[:-1] + bytes([whole[-1] ^ 1]))
        yield entry("truncated", layer, whole[:-1], reason="length")
        yield entry("extended", layer, whole + b"\0", reason="length")
        yield entry("opened with another key", layer, whole, key="other")
        yield entry("opened for another batch", layer, whole, batch=OTHER_BATCH.hex())
        yield entry("opened for another round", layer, whole, round=1)
        yield entry("opened for another analyzer", layer, whole, analyzer=other)
        later = layer_of_two(plan, layer, 0)["later"]
        for what, change in {
            "another key of the analyzer": {"later": [*later[:-1], bytes.fromhex(other)]},
            "no key of the analyzer": {"later": later[:-1]},
            "the role of the other": {"role": b"outer" if layer == "second" else b"second"},
            "another batch": {"batch": OTHER_BATCH},
            "another round": {"round_number": 1},
        }.items():
            sealed = sealed_for_two(plan, name=what, **{layer: change})[part[layer]]
            yield entry(f"bound to {what}", layer, sealed)
    analyzer = public_of("analyzer")
    yield entry("opened for another second shuffler", "outer", good["envelope"], onward=[other])
    for what, later in {
        "another key of the second shuffler": [bytes.fromhex(other), analyzer],
        "no key of the second shuffler": [analyzer],
        "later keys in another order": [analyzer, public_of("second")],
    }.items():
        sealed = sealed_for_two(plan, name=what, outer={"later": later})["envelope"]
        yield entry(f"bound to {what}", "outer", sealed)
    yield entry("the first shuffler's", "second", good["envelope"], reason="length")
    yield entry("only the inner seal", "second", good["inner"], reason="length")
    yield entry("only the second seal", "outer", good["second"], reason="length")


def signed_by(name, document, kind):
    return signed(document, private(name), PURPOSES[kind])


ROLES_OF_TWO = (("release", "intake"), ("second release", "second intake"))


def keys_of_two(plan, hop, **changes):
    """The keys of one of two shufflers by role."""
    release, intake = (SIGNING_KEYS[name]["public"] for name in ROLES_OF_TWO[hop])
    return {
        "plan": plan.digest,
        "kind": "shuffler keys",
        "version": 1,
        "release": [{"from_round": 0, "key": release}],
        "intake": [{"from_round": 0, "key": intake, "seal": KEYS["other"]["public"]}],
    } | changes


def opening_of_two(plan, hop, round_number, signer=None, **changes):
    """The signed opening of one of two shufflers; an entry that is changed to None is left out."""
    document = {
        "plan": plan.digest,
        "kind": "shuffler",
        "round": round_number,
        "batch": secret(f"batch of round {round_number}")[:16].hex(),
        "key": KEYS["second" if hop else "shuffler"]["public"],
        "analyzer": KEYS["analyzer"]["public"],
        "next": None if hop else KEYS["second"]["public"],
    } | changes
    entries = {name: value for name, value in document.items() if value is not None}
    return signed_by(signer or ROLES_OF_TWO[hop][0], entries, "shuffler")


def part_of_two(plan, round_number, signer=None, **changes):
    """The second shuffler's part in a round."""
    return {
        "keys": signed_by("second", keys_of_two(plan, 1), "shuffler keys"),
        "opening": opening_of_two(plan, 1, round_number, signer, **changes),
    }


def key_list_of_two(plan, *rounds, **changes):
    analyzer = {"plan": plan.digest, "kind": "analyzer", "key": KEYS["analyzer"]["public"]}
    document = {
        "schema_version": 2,
        "plan": plan.canonical.decode(),
        "analyzer": signed_by("analyzer", analyzer, "analyzer"),
        "keys": signed_by("shuffler", keys_of_two(plan, 0), "shuffler keys"),
        "shuffler": [opening_of_two(plan, 0, number) for number in rounds],
        "onward": [part_of_two(plan, number) for number in rounds],
    } | changes
    return {name: value for name, value in document.items() if value is not None}


def bad_key_lists_of_two(plan, alone):
    """Lists that a client must not believe: each differs in one thing from one that it does."""

    def listed(*onward, **changes):
        return key_list_of_two(plan, 3, onward=[*onward], **changes)

    good, other = part_of_two(plan, 3), KEYS["other"]["public"]
    yield "no part of the second shuffler", key_list_of_two(plan, 3, onward=None)
    yield "no part of it in one round", listed()
    yield "one part too many", listed(good, good)
    yield "a part in words", listed("second")
    yield "parts as a table", key_list_of_two(plan, 3, onward=good)
    swapped = [part_of_two(plan, number) for number in (4, 3)]
    yield "parts in another order", key_list_of_two(plan, 3, 4, onward=swapped)
    yield "of another round", listed(part_of_two(plan, 3, round=4))
    yield "of another batch", listed(part_of_two(plan, 3, batch=OTHER_BATCH.hex()))
    yield "for another analyzer", listed(part_of_two(plan, 3, analyzer=other))
    yield "with another key", listed(part_of_two(plan, 3, key=other))
    yield "of another plan", listed(good | {"opening": opening_of_two(alone, 1, 3)})
    yield "with a key after it", listed(part_of_two(plan, 3, next=other))
    yield "with one entry more", listed(good | {"more": 1})
    for signer in ("release", "intake", "shuffler", "second intake", "analyzer", "other"):
        yield f"signed by {signer}", listed(part_of_two(plan, 3, signer))
    for signer in ("shuffler", "second release", "analyzer", "other"):
        keys = signed_by(signer, keys_of_two(plan, 1), "shuffler keys")
        yield f"keys signed by {signer}", listed(good | {"keys": keys})
    first = signed_by("shuffler", keys_of_two(plan, 0), "shuffler keys")
    opening = opening_of_two(plan, 0, 3)
    yield "the first shuffler's keys", listed(good | {"keys": first})
    yield "the first shuffler's opening", listed(good | {"opening": opening})
    yield "the first shuffler's part", listed({"keys": first, "opening": opening})
    yield "the second shuffler's keys as the first one's", listed(good, keys=good["keys"])
    yield (
        "both shufflers swapped",
        listed({"keys": first, "opening": opening}, keys=good["keys"], shuffler=[good["opening"]]),
    )
    for what, changes in {
        "without the next key": {"next": None},
        "with another next key": {"next": other},
        "with itself as the next one": {"next": KEYS["shuffler"]["public"]},
        "for another batch": {"batch": OTHER_BATCH.hex()},
    }.items():
        changed = opening_of_two(plan, 0, 3, **changes)
        yield f"the first opening {what}", listed(good, shuffler=[changed])


def bad_plans_of_two(plan):
    """Plans whose shufflers nothing is proved about."""
    document = json.loads(plan.canonical)
    first, second = document["shufflers"]

    def entry(what, **changes):
        return {"what": what, "canonical": canonical(document | changes).decode()}

    def with_first(**changes):
        changed = {k: v for k, v in (first | changes).items() if v is not None}
        return {"shufflers": [changed, second]}

    noisy = [{"mechanism": "k-rr", "k": 10, "max_epsilon_local": 2.0}]
    yield entry("no shuffler", shufflers=[])
    yield entry("three shufflers", shufflers=[first, second, second])
    yield entry("one key twice", **with_first(key=second["key"]))
    bare = [{"key": entry["key"]} for entry in (first, second)]
    yield entry("plain without dummies", shufflers=bare)
    yield entry("keep without dummies", questions=noisy, shufflers=[bare[0] | {"keep": 0.5}])
    for keep in (0, 1.5, -0.1, "half"):
        yield entry(f"keep of {keep}", **with_first(keep=keep))
    for epsilon in (0.009, 20.5, "1"):
        yield entry(
            f"epsilon of {epsilon}", **with_first(dummies={"epsilon": epsilon, "delta": 0.1})
        )
    for delta in (0, 1e-16, 0.11):
        yield entry(f"delta of {delta}", **with_first(dummies={"epsilon": 1.0, "delta": delta}))
    yield entry("dummies without delta", **with_first(dummies={"epsilon": 1.0}))
    groups = document["shuffling"] | {"groups": {"sha256": "ab" * 32}}
    yield entry("groups", shuffling=groups)
    nulls = document["participation"] | {"model": "rectified-multinomial", "weights": 3}
    yield entry("nulls", participation=nulls)
    hashing = [{"mechanism": "local-hashing", "k": 100, "max_epsilon_local": 2.0}]
    yield entry("a large alphabet", questions=hashing)
    yield entry("too many values", questions=[{"mechanism": "plain", "k": 100_001}])
    several = document["participation"] | {"model": "parallel", "weights": 2}
    yield entry("parallel questions", participation=several)
    in_words = {"epsilon": 20.0, "delta": 0.1, "weights": "1, 2, 1"}
    yield entry("weights in words", **with_first(dummies=in_words))
    yield entry("noise of plain", questions=[{"mechanism": "plain", "k": 3, "denominator": 16}])


def bad_tables_of_two(plan):
    """Plans that whoever draws dummies refuses: a client does not, since it draws none."""
    document = json.loads(plan.canonical)
    first, second = document["shufflers"]
    for what, epsilon, delta, weights in (
        ("one entry", 20.0, 0.1, [1]),
        ("no weight", 20.0, 0.1, [0, 0]),
        ("a negative weight", 20.0, 0.1, [1, -1]),
        ("half a weight", 20.0, 0.1, [1, 2.5]),
        ("a sum above 2^64", 20.0, 0.1, [2**64, 1]),
        ("a delta that is too large", 1.0, 1e-8, [1, 2, 1]),
    ):
        dummies = {"epsilon": epsilon, "delta": delta, "weights": weights}
        changed = document | {"shufflers": [first | {"dummies": dummies}, second]}
        yield {"what": what, "canonical": canonical(changed).decode()}


def vectors():
    made = {name: Plan.from_document(tables) for name, tables in PLANS.items()}
    return {
        "format": "croupier wire, version 2",
        "keys": KEYS,
        "signing_keys": SIGNING_KEYS,
        "plans": {
            name: {
                "document": PLANS[name],
                "canonical": plan.canonical.decode(),
                "digest": hashlib.sha256(plan.canonical).hexdigest(),
                "report_size": plan.protections.report_size,
                "owned": name == "mallows",
                "envelope_length": plan.protections.report_size
                + 48 * (2 + (name == "two-shufflers"))
                + 8 * (name == "mallows"),
            }
            for name, plan in made.items()
        },
        "worded_plans": [*good_words()],
        "refused_plans": [*bad_words_of_plans()],
        "info": [*infos(made)],
        "reports": [*good_reports(made)],
        "refused_reports": [*bad_reports(made)],
        "envelopes": [*good_envelopes(made)],
        "refused_envelopes": [*bad_envelopes(made)],
        "refused_inner": [*bad_inner(made)],
        "sent": SENT | {"digest": unsigned(made)["not accepted"]["sent"]},
        "lists": {
            name: signed(list_entries(made[name]), private("shuffler"), PURPOSES["shuffler keys"])
            for name in ("k-rr", "adaptive")
        },
        "documents": [*good_documents(made)],
        "refused_documents": [*bad_documents(made)],
        "superseded": [*good_pointers(made)],
        "refused_superseded": [
            {"what": what, "plan": "k-rr", "text": text} for what, text in bad_pointers(made)
        ],
        "two_shufflers": two_shufflers(made["two-shufflers"], made["k-rr"]),
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(vectors(), indent=1) + "\n")
