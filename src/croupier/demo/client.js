// src/bytes.ts
const utf8 = (text) => new TextEncoder().encode(text);
function hex(data) {
	return Array.from(data, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
/** Return the bytes of hexadecimal digits, which the caller has checked. */
function fromHex(digits) {
	const pairs = digits.match(/../g) ?? [];
	return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
}
function bigEndian(value, size) {
	return fromHex(value.toString(16).padStart(2 * size, "0"));
}
function concat(...parts) {
	const joined = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
	let start = 0;
	for (const part of parts) {
		joined.set(part, start);
		start += part.length;
	}
	return joined;
}
function equal(first, second) {
	return first.length === second.length && first.every((byte, place) => byte === second[place]);
}
async function sha256(data) {
	return new Uint8Array(await crypto.subtle.digest("SHA-256", data));
}
// src/errors.ts
/**
* The errors that the client throws.
*
* Messages say what must hold and what to do next. They never contain a person's value.
*/
/** The root of every error that is thrown on purpose. */
var CroupierError = class extends Error {
	constructor(message) {
		super(message);
		this.name = new.target.name;
	}
};
/** A parameter outside its range. */
var ParameterError = class extends CroupierError {
	parameter;
	constructor(parameter, { must, hint = "" }) {
		super(`\`${parameter}\` must ${must}.${hint && ` ${hint}`}`);
		this.parameter = parameter;
	}
};
/** A value, or a report, that does not fit. */
var DataError = class extends CroupierError {};
/** Bytes that are not a report of the plan. */
var MalformedReportError = class extends CroupierError {
	reason;
	constructor(reason) {
		super(`Not a report of this plan: its ${reason} is wrong. Refuse it.`);
		this.reason = reason;
	}
};
/** A document not signed by a party that the plan names. */
var UntrustedError = class extends CroupierError {
	what;
	problem;
	constructor(what, problem, advice = "Do not use it; ask its operator.") {
		super(`${what} ${problem}. ${advice}`);
		this.what = what;
		this.problem = problem;
	}
};
/**
* A plan was superseded: its shuffler's root has signed which plan took its place.
*
* Nobody is moved to the other plan by this error, because people agree to one plan.
*/
var SupersededError = class extends CroupierError {
	successor;
	date;
	constructor(successor, date) {
		super(`This plan was superseded by plan ${successor.slice(0, 16)}…: install the version of the app that has it.`);
		this.successor = successor;
		this.date = date;
	}
};
/** A server, or a mirror of it, answers that it does not have a plan, or a round of it. */
var NotOfferedError = class extends CroupierError {
	status;
	constructor(status, { who = "server", what = "the plan" } = {}) {
		super(`This ${who} does not offer ${what} (${status}). Check the address and the plan's digest.`);
		this.status = status;
	}
};
/** A report would cost more than is left of a person's budget for an attribute. */
var BudgetError = class extends CroupierError {
	attribute;
	cost;
	budget;
	delta;
	budgetDelta;
	constructor(attribute, cost, budget, delta = 0, budgetDelta = 0) {
		const chance = ` The chance that they do not hold may be ${budgetDelta} in all; a report costs ${delta}.`;
		super(`${attribute} may cost ${budget} nats in all and a report costs ${cost}, more than is left.${delta > 0 ? chance : ""} Nothing was randomised. Stay away, or ask the person for more.`);
		this.attribute = attribute;
		this.cost = cost;
		this.budget = budget;
		this.delta = delta;
		this.budgetDelta = budgetDelta;
	}
};
/** A client's memory cannot be read; it must not start afresh and randomise again. */
var StateError = class extends CroupierError {
	place;
	constructor(place) {
		super(`${place} is not a client's memory. Restore it; nothing was randomised.`);
		this.place = place;
	}
};
// src/keystream.ts
/** Uniform integers below any bound up to 2^64, exactly, without modulo bias. */
const WORD = 1n << 64n;
/** The words that one call of `getRandomValues` may fill. */
const MOST_AT_ONCE = 8192;
/** The randomness of the operating system. */
const operatingSystem = { words(size) {
	const words = new BigUint64Array(size);
	for (let start = 0; start < size; start += MOST_AT_ONCE) crypto.getRandomValues(words.subarray(start, start + MOST_AT_ONCE));
	return words;
} };
/**
* Draw a uniform integer below each of the bounds.
*
* A word counts if it lies below the largest multiple of the bound, and is drawn again otherwise.
*/
function draw(bounds, rng) {
	const words = rng.words(bounds.length);
	return bounds.map((below, place) => {
		const accepted = WORD - WORD % below;
		let word = words[place];
		while (word >= accepted) word = rng.words(1)[0];
		return word % below;
	});
}
/** Draw one uniform integer below a bound. */
const integer = (below, rng) => draw([below], rng)[0];
// src/json.ts
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const MARK = "\0whole number ";
/** Read a text. Whole numbers that a double may not hold exactly become BigInts. */
function readJson(text) {
	const marked = text.replace(TOKEN, (token) => {
		if (token.startsWith(JSON.stringify(MARK).slice(0, -1))) throw new SyntaxError("a reserved text");
		return isLarge(token) ? JSON.stringify(MARK + token) : token;
	});
	return JSON.parse(marked, (_, value) => typeof value === "string" && value.startsWith(MARK) ? BigInt(value.slice(14)) : value);
}
function isLarge(token) {
	return /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token));
}
/** Return the one spelling of a value: keys in order, no spaces, ASCII. Numbers must be whole. */
function canonical(value) {
	if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
	if (typeof value === "object" && value !== null) return `{${Object.entries(value).sort(([first], [second]) => first < second ? -1 : 1).map(([name, entry]) => `${ascii(name)}:${canonical(entry)}`).join(",")}}`;
	return typeof value === "string" ? ascii(value) : String(value);
}
function ascii(text) {
	const escaped = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
	return JSON.stringify(text).replace(/[\u007f-\uffff]/g, escaped);
}
function isTable(value) {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
// src/protocol/signature.ts
/** Signed documents: small JSON objects that carry an Ed25519 signature of their meaning. */
/** Tell whether the `signature` of a document is that of a public key, in hexadecimal. */
async function isSigned(document, signer, purpose) {
	const { signature, ...unsigned } = document;
	try {
		const key = await crypto.subtle.importKey("raw", fromHex(signer), "Ed25519", false, ["verify"]);
		const message = concat(utf8(`croupier ${purpose}\0`), utf8(canonical(unsigned)));
		return await crypto.subtle.verify("Ed25519", key, fromHex(String(signature)), message);
	} catch (error) {
		if (error instanceof DOMException && error.name !== "NotSupportedError") return false;
		throw error;
	}
}
// src/protocol/signed_document.ts
/** Signed documents: their shapes, and the signatures that make them believed. */
const digits = (size) => (value) => typeof value === "string" && value.length === 2 * size && /^[0-9a-f]*$/.test(value);
const exactly$1 = (text) => (value) => value === text;
const whole$1 = (least, most) => (value) => typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
const roundNumber = whole$1(0, 2 ** 31 - 1);
const SHAPE = "has missing, unknown or impossible entries";
const COMMON$1 = {
	plan: digits(32),
	signature: digits(64)
};
/**
* Return the document, if it belongs to this plan and is signed by a permitted key.
*
* @param signers The keys whose signatures are valid; the root that the plan names if left out.
*/
async function verified(kind, document, plan, signers = kind.signer === void 0 ? [] : [plan[kind.signer]]) {
	const own = requireShape(kind.what, document, kind.entries, kind.optional);
	if (own.plan !== plan.digest) throw new UntrustedError(kind.what, "is of another plan");
	for (const signer of signers) if (await isSigned(own, signer, kind.purpose)) return own;
	throw new UntrustedError(kind.what, "is not signed by the key of the plan");
}
/** Return a table with exactly these entries, and perhaps the optional ones, each valid. */
function requireShape(what, document, entries, optional = {}) {
	if (hasShape(document, entries, optional)) return document;
	throw new UntrustedError(what, SHAPE);
}
/** Tell whether a document is such a table. */
function hasShape(document, entries, optional = {}) {
	if (!isTable(document)) return false;
	const given = Object.keys(optional).filter((name) => Object.hasOwn(document, name));
	const names = [...Object.keys(entries), ...given];
	const all = {
		...optional,
		...entries
	};
	return names.every((name) => all[name]?.(document[name])) && Object.keys(document).length === names.length;
}
/** Read the document that a server sent: canonical JSON, so that it has one spelling. */
function readDocument(what, data) {
	const text = new TextDecoder().decode(data);
	let document;
	try {
		document = readJson(text);
	} catch {
		throw new UntrustedError(what, SHAPE);
	}
	if (canonical(document) !== text) throw new UntrustedError(what, "is not in its canonical text");
	return document;
}
// src/protocol/party_keys.ts
/**
* The keys of a shuffler by role, in a list that its root signs.
*
* The plan names the root. The list names the release keys, which open rounds, and the intake keys,
* which sign refusals, each valid from a round on. The root stands for each of them.
*
* Shufflers are counted by hops: 0 is the one that clients send to, 1 the one after it. Nothing that
* one of them signs is believed for the other.
*/
const RELEASE = {
	from_round: roundNumber,
	key: digits(32)
};
const INTAKE = {
	...RELEASE,
	seal: digits(32)
};
/** Entries of one shape, whose rounds rise from 0. */
const rising = (entries) => (value) => {
	if (!Array.isArray(value) || !value.every((entry) => hasShape(entry, entries))) return false;
	const rounds = value.map(({ from_round }) => from_round);
	return rounds[0] === 0 && rounds.every((round, place) => round > (rounds[place - 1] ?? -1));
};
const SHUFFLER_KEYS = {
	what: "the list of the shuffler's keys",
	signer: "shufflerKey",
	purpose: "shuffler keys",
	entries: {
		...COMMON$1,
		kind: exactly$1("shuffler keys"),
		version: whole$1(1, 2 ** 32 - 1),
		release: rising(RELEASE),
		intake: rising(INTAKE)
	}
};
/** Return the list in a document, if the root of the plan's shuffler signed it. */
async function shufflerKeys(document, plan, hop = 0) {
	const root = plan.shufflerKeys[hop];
	const read = await verified(SHUFFLER_KEYS, document, plan, [root]);
	const { version, release, intake } = read;
	return {
		hop,
		version,
		release,
		intake,
		digest: hex(await sha256(utf8(canonical(read))))
	};
}
/** Return the keys that may sign for a role in a round: the list's key, and the root. */
function signersOf(role, round, plan, keys) {
	const own = keyOf(keys[role], round);
	const root = plan.shufflerKeys[keys.hop];
	return own === void 0 ? [root] : [own.key, root];
}
/** Tell whether the release key of a round was replaced by that of a newer round. */
function isReplaced(round, newest, { release }) {
	return (keyOf(release, round)?.from_round ?? 0) < (keyOf(release, newest)?.from_round ?? 0);
}
function keyOf(entries, round) {
	return entries.filter(({ from_round }) => from_round <= round).at(-1);
}
// src/protocol/key_list.ts
/**
* Key lists: the public keys that clients seal to, signed by the parties that the plan names.
*
* Everybody gets the same bytes, so that a client can compare them with a second mirror.
*/
const question = (value) => typeof value === "string" && value.length > 0 && [...value].length <= MOST_CHARACTERS;
const MOST_CHARACTERS = 4096;
const WIRE_VERSION = 2;
/** The opening of a round, signed by the release key of the round. */
const SHUFFLER = {
	what: "the opening of a round",
	purpose: "key list",
	entries: {
		...COMMON$1,
		kind: exactly$1("shuffler"),
		round: roundNumber,
		batch: digits(16),
		key: digits(32),
		analyzer: digits(32)
	},
	optional: { next: digits(32) }
};
const JUDGEMENTS = [
	"met",
	"not met",
	"no limit set"
];
const POLICY = {
	judgement: (value) => JUDGEMENTS.includes(value),
	judged: digits(32),
	despite_policy: (value) => typeof value === "boolean"
};
/** The analyzer's key, with its statement on the plan's policy, which lists of 0.1 do not have. */
const ANALYZER = {
	what: "the analyzer's key list",
	signer: "analyzerKey",
	purpose: "key list",
	entries: {
		...COMMON$1,
		kind: exactly$1("analyzer"),
		key: digits(32)
	},
	optional: { policy: (value) => hasShape(value, POLICY, { organisation: digits(32) }) }
};
/** The question of a round, if the plan does not fix it. */
const QUERY = {
	what: "the query",
	signer: "analyzerKey",
	purpose: "query",
	entries: {
		...COMMON$1,
		kind: exactly$1("query"),
		round: roundNumber,
		question
	}
};
/**
* The shuffler's signed refusal: a batch will never hold a report, so it may be resealed.
*
* The intake key of the round that it was sent for signs it.
*/
const NOT_ACCEPTED = {
	what: "the refusal",
	purpose: "refusal",
	entries: {
		...COMMON$1,
		kind: exactly$1("not accepted"),
		batch: digits(16),
		sent: digits(32)
	}
};
/** Return what a refusal is bound to: the Authorization header's value and the envelopes. */
async function sentDigest(authorization, body) {
	const value = utf8(authorization);
	return hex(await sha256(concat(bigEndian(value.length, 2), value, body)));
}
/** Tell whether a served document has this version of the wire format. */
function isWireVersion(value) {
	return value === WIRE_VERSION;
}
/** Read a document that names its version, as `readDocument`; refuse another version by name. */
function readServed(what, data) {
	const document = readDocument(what, data);
	const version = isTable(document) ? document.schema_version : void 0;
	if (typeof version === "number" && !isWireVersion(version)) throw new UntrustedError(what, `is of wire version ${version}, which this client does not speak`);
	return document;
}
/** Return the text of the plan inside a key list; the caller compares its digest. */
function planText(data) {
	return String(parts(data).plan);
}
/** Read a key list, with every part checked against the plan. */
async function readKeyList(data, plan) {
	const list = parts(data);
	if (list.plan !== plan.canonical) throw new UntrustedError(WHAT$1, "is of another plan");
	const analyzer = await verified(ANALYZER, list.analyzer, plan);
	const keys = await shufflerKeys(list.keys, plan);
	const shuffler = await Promise.all(list.shuffler.map((entry) => openingOf(entry, plan, keys)));
	if (new Set(shuffler.map(({ round }) => round)).size !== shuffler.length) throw new UntrustedError(WHAT$1, "names two batches for one round");
	if (shuffler.some((entry) => entry.analyzer !== analyzer.key)) throw new UntrustedError(WHAT$1, "shows another key of the analyzer than its round was opened for");
	const onward = await onwardKeys(WHAT$1, list.onward, plan, shuffler);
	return {
		keys,
		openRounds: shuffler.map(shufflerKey),
		onward
	};
}
/**
* Return the opening of a round, if the release key of that round signed it.
*
* It must name the next shuffler's key if there is one, and only then.
*/
async function openingOf(document, plan, keys) {
	const signers = signersOf("release", isTable(document) ? Number(document.round) : 0, plan, keys);
	const opening = await verified(SHUFFLER, document, plan, signers);
	if (opening.next === void 0 !== (keys.hop === plan.shufflerKeys.length - 1)) throw new UntrustedError(SHUFFLER.what, "names a next shuffler, or none, unlike the plan");
	return opening;
}
/**
* Return the second shuffler's keys in each round, if it opened what the first one did.
*
* An honest shuffler among the two opens only what was sealed with the keys in its own opening.
*
* @param parts The second shuffler's part in each round; undefined if absent.
* @param openings The first shuffler's openings, checked already.
*/
async function onwardKeys(what, parts, plan, openings) {
	if (plan.shufflerKeys.length === 1) {
		if (parts === void 0) return [];
		throw new UntrustedError(what, "has keys of a second shuffler, and the plan has one");
	}
	if (!Array.isArray(parts) || parts.length !== openings.length) throw new UntrustedError(what, "lacks the second shuffler's opening of a round");
	return Promise.all(openings.map((first, place) => secondKeys(parts[place], plan, first)));
}
async function secondKeys(part, plan, first) {
	const { keys, opening } = requireShape(SECOND, part, {
		keys: isTable,
		opening: isTable
	});
	const listed = await shufflerKeys(keys, plan, 1);
	const own = await openingOf(opening, plan, listed);
	if ([
		"round",
		"batch",
		"analyzer"
	].every((name) => own[name] === first[name]) && own.key === first.next) return listed;
	throw new UntrustedError(SECOND, "differs from the first one's");
}
const WHAT$1 = "the key list";
const SECOND = "the second shuffler's opening";
const PARTS$1 = {
	schema_version: isWireVersion,
	plan: (value) => typeof value === "string",
	analyzer: isTable,
	keys: isTable,
	shuffler: Array.isArray
};
function parts(data) {
	return requireShape(WHAT$1, readServed(WHAT$1, data), PARTS$1, { onward: Array.isArray });
}
function shufflerKey({ round, batch, key, analyzer, next }) {
	return {
		onward: next === void 0 ? [] : [String(next)],
		round: Number(round),
		batch: String(batch),
		key: fromHex(String(key)),
		analyzer: String(analyzer)
	};
}
// src/protocol/query.ts
/**
* Queries: the questions of adaptive rounds, signed by the analyzer, the same for everybody.
*
* The digest of the query is bound into every seal of every report: a client that was shown
* another query sends nothing that opens.
*/
const WHAT = "the round's document";
/**
* Return what a round asks; null if the plan fixes it.
*
* @param rounds The documents of the round from server and mirrors; must be the same bytes.
* @param keys The keys that sign for the shuffler, by the key list.
*/
async function queryOf(plan, rounds, shuffler, keys) {
	if (!plan.asksByQuery) return null;
	const [first, ...others] = rounds;
	if (first === void 0 || others.some((other) => !equal(other, first))) throw new UntrustedError(WHAT, "is missing, or not the same on every mirror");
	const document = requireShape(WHAT, readServed(WHAT, first), {
		schema_version: isWireVersion,
		shuffler: isTable,
		query: isTable
	}, { onward: isTable });
	const opening = await openingOf(document.shuffler, plan, keys);
	const parts = document.onward === void 0 ? void 0 : [document.onward];
	await onwardKeys(WHAT, parts, plan, [opening]);
	const own = shufflerKey(opening);
	if (own.round !== shuffler.round || own.batch !== shuffler.batch || own.analyzer !== shuffler.analyzer || own.onward[0] !== shuffler.onward[0] || !equal(own.key, shuffler.key)) throw new UntrustedError(WHAT, "is not of the round in the key list");
	const query = await verified(QUERY, document.query, plan);
	if (query.round !== shuffler.round) throw new UntrustedError(QUERY.what, "is of another round");
	return {
		question: String(query.question),
		digest: hex(await sha256(utf8(canonical(query))))
	};
}
// src/protocol/hpke.ts
/**
* HPKE (RFC 9180): single shot, base mode, sealing only.
*
* DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM. The curve, the hash and the cipher are
* those of the platform (WebCrypto); this file composes them as the standard does.
*/
const KEM_SUITE = concat(utf8("KEM"), fromHex("0020"));
const HPKE_SUITE = concat(utf8("HPKE"), fromHex("002000010001"));
const BASE_MODE = fromHex("00");
const NOTHING = /* @__PURE__ */ new Uint8Array(0);
const HASH_SIZE = 32;
const KEY_SIZE = 16;
const NONCE_SIZE = 12;
/**
* Seal a message: the encapsulated key, then the ciphertext with its tag.
*
* @param receiver The receiver's X25519 public key.
* @param ephemeral For tests only: with one key pair, two seals would share their secret.
*/
async function hpkeSeal(plaintext, receiver, info, ephemeral) {
	const [own, peer, context] = await Promise.all([
		ephemeral ?? crypto.subtle.generateKey("X25519", false, ["deriveBits"]),
		crypto.subtle.importKey("raw", receiver, "X25519", false, []),
		scheduleContext(info)
	]);
	const { privateKey, publicKey } = own;
	const enc = new Uint8Array(await crypto.subtle.exportKey("raw", publicKey));
	const exchange = {
		name: "X25519",
		public: peer
	};
	const exchanged = new Uint8Array(await crypto.subtle.deriveBits(exchange, privateKey, 256));
	const secret = await extract(HPKE_SUITE, await sharedSecret(exchanged, enc, receiver), "secret", NOTHING);
	const [key, nonce] = await Promise.all([expand(HPKE_SUITE, secret, "key", context, KEY_SIZE), expand(HPKE_SUITE, secret, "base_nonce", context, NONCE_SIZE)]);
	const cipher = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["encrypt"]);
	const sealed = await crypto.subtle.encrypt({
		name: "AES-GCM",
		iv: nonce
	}, cipher, plaintext);
	return concat(enc, new Uint8Array(sealed));
}
/** Compute ExtractAndExpand of section 4.1. */
async function sharedSecret(exchanged, enc, receiver) {
	const secret = await extract(KEM_SUITE, NOTHING, "eae_prk", exchanged);
	return expand(KEM_SUITE, secret, "shared_secret", concat(enc, receiver), HASH_SIZE);
}
/** Compute the context of the key schedule of section 5.1, without a pre-shared key. */
async function scheduleContext(info) {
	const hashes = await Promise.all([extract(HPKE_SUITE, NOTHING, "psk_id_hash", NOTHING), extract(HPKE_SUITE, NOTHING, "info_hash", info)]);
	return concat(BASE_MODE, ...hashes);
}
/** Compute LabeledExtract of section 4. An empty salt stands for zeros. */
function extract(suite, salt, label, material) {
	const labelled = concat(utf8("HPKE-v1"), suite, utf8(label), material);
	return hmac(salt.length > 0 ? salt : new Uint8Array(HASH_SIZE), labelled);
}
/** Compute LabeledExpand of section 4; every length here is at most one block of HKDF. */
async function expand(suite, secret, label, info, length) {
	return (await hmac(secret, concat(concat(bigEndian(length, 2), utf8("HPKE-v1"), suite, utf8(label), info), bigEndian(1, 1)))).slice(0, length);
}
async function hmac(secret, message) {
	const key = await crypto.subtle.importKey("raw", secret, {
		name: "HMAC",
		hash: "SHA-256"
	}, false, ["sign"]);
	return new Uint8Array(await crypto.subtle.sign("HMAC", key, message));
}
const VERSION = 2;
const NULL = 0;
const DATA = 1;
const HEAD$1 = 2;
const OWNER_SIZE = 8;
const MOST_OWNERS = 1n << 64n;
/** Return the epoch of a round whose opening names its batch and the keys of everybody later. */
function epochOf(plan, opening, query = "") {
	const { round, batch, analyzer, onward = [] } = opening;
	const { digest, reportSize, owned } = plan;
	return {
		plan: digest,
		roundNumber: round,
		batch,
		reportSize,
		owned,
		analyzer,
		query,
		onward
	};
}
const innerLength = ({ reportSize }) => reportSize + 48;
/** The bytes inside the envelope, without the owner: what the first shuffler hands on. */
const handedLength = (epoch) => innerLength(epoch) + 48 * epoch.onward.length;
/**
* Return the bytes that a seal is bound to: its role, and the list of all that must agree.
*
* The list names plan, batch, round, query and the public keys of the receiver and of everybody
* after it.
*/
async function info(epoch, role, key) {
	const after = {
		inner: [],
		second: [epoch.analyzer],
		outer: [...epoch.onward, epoch.analyzer]
	};
	const list = canonical({
		batch: epoch.batch,
		keys: [hex(key), ...after[role]],
		plan: epoch.plan,
		query: epoch.query,
		round: epoch.roundNumber
	});
	const digest = await sha256(utf8(list));
	return concat(...[
		utf8("croupier"),
		bigEndian(VERSION, 1),
		utf8(role),
		digest
	].flatMap((field) => [bigEndian(field.length, 2), field]));
}
/** Encode a report, or null, as the bytes that are sealed. */
function encodeReport(format, report, size) {
	const data = new Uint8Array(size);
	data.set([VERSION, report === null ? NULL : DATA]);
	if (report !== null) data.set(format.toBytes(report), HEAD$1);
	return data;
}
/** Seal a report so that only the analyzer can open it. */
async function sealInner(report, epoch, ephemeral) {
	requireLength("report", report, epoch.reportSize);
	const key = fromHex(epoch.analyzer);
	return hpkeSeal(report, key, await info(epoch, "inner", key), ephemeral);
}
/** Seal an encoded report to every party, into the envelope that a client sends. */
async function sealReport(report, key, epoch, owner) {
	const inner = await sealInner(report, epoch);
	return sealOuter(epoch.onward.length > 0 ? await sealSecond(inner, epoch) : inner, key, epoch, owner);
}
/** Seal the output of `sealInner`, and nothing else, to the second shuffler of this batch. */
async function sealSecond(inner, epoch, ephemeral) {
	requireLength("inner", inner, innerLength(epoch));
	const key = fromHex(epoch.onward[0]);
	return hpkeSeal(inner, key, await info(epoch, "second", key), ephemeral);
}
/** Seal an envelope that only the first shuffler of this batch can open. */
async function sealOuter(inner, key, epoch, owner, ephemeral) {
	requireLength("inner", inner, handedLength(epoch));
	return hpkeSeal(concat(inner, place(owner, epoch)), key, await info(epoch, "outer", key), ephemeral);
}
function place(owner, epoch) {
	if (epoch.owned !== (owner !== void 0)) throw new ParameterError("owner", { must: epoch.owned ? "be given: this plan mixes by groups" : "be left out" });
	if (owner === void 0) return /* @__PURE__ */ new Uint8Array(0);
	if (owner < 0n || owner >= MOST_OWNERS) throw new ParameterError("owner", { must: "be a place in the public file" });
	return bigEndian(owner, OWNER_SIZE);
}
function requireLength(name, data, length) {
	if (data.length !== length) throw new ParameterError(name, { must: `be ${length} bytes` });
}
// src/rounding.ts
/** Digits of a decimal exponential, as in the proof. */
const DIGITS = 60;
const SLACK = 10n ** 50n;
/** Bits of the fixed point in which the exponential is summed: twice what its digits need. */
const POINT = 480n;
const HALVINGS = 12n;
/** Return a double that is not negative as an exact fraction. */
function exactly(value) {
	const view = /* @__PURE__ */ new DataView(/* @__PURE__ */ new ArrayBuffer(8));
	view.setFloat64(0, value);
	const bits = view.getBigUint64(0);
	const exponent = bits >> 52n;
	const fraction = bits & (1n << 52n) - 1n;
	const numerator = exponent === 0n ? fraction : fraction | 1n << 52n;
	const shift = (exponent === 0n ? 1n : exponent) - 1075n;
	return shift >= 0n ? {
		numerator: numerator << shift,
		denominator: 1n
	} : {
		numerator,
		denominator: 1n << -shift
	};
}
/**
* Return a rational number just below e^exponent, by less than 2e-50 of it, the same as in Python.
*
* It is the exponential in 60 digits of the exponent in 60 digits, less 1e-50 of it. The sum is
* exact to some 130 digits, so rounding it to 60 gives the correctly rounded exponential.
*/
function expBelow(exponent) {
	const { numerator, denominator } = rounded(exponent);
	const reduced = (numerator << POINT) / (denominator << HALVINGS);
	let term = 1n << POINT;
	let sum = term;
	for (let n = 1n; term > 0n; n += 1n) {
		term = term * reduced / (n << POINT);
		sum += term;
	}
	for (let n = 0n; n < HALVINGS; n += 1n) sum = sum * sum >> POINT;
	const value = rounded({
		numerator: sum,
		denominator: 1n << POINT
	});
	return {
		numerator: value.numerator * (SLACK - 1n),
		denominator: value.denominator * SLACK
	};
}
/** Return the nearest number of 60 digits; of two, the even one. */
function rounded({ numerator, denominator }) {
	let shift = DIGITS - (numerator.toString().length - denominator.toString().length);
	if (scaled(numerator, shift) >= 10n ** BigInt(DIGITS) * scaled(denominator, -shift)) shift -= 1;
	const dividend = scaled(numerator, shift);
	const divisor = scaled(denominator, -shift);
	let digits = dividend / divisor;
	const rest = 2n * (dividend % divisor);
	if (rest > divisor || rest === divisor && digits % 2n === 1n) digits += 1n;
	return {
		numerator: scaled(digits, -shift),
		denominator: scaled(1n, shift)
	};
}
const scaled = (value, shift) => shift > 0 ? value * 10n ** BigInt(shift) : value;
/** Return the least whole number that is at least the quotient of two positive ones. */
function ceilingOf(numerator, denominator) {
	return (numerator + denominator - 1n) / denominator;
}
/** Return the nearest whole number; of two, the even one. */
function nearest({ numerator, denominator }) {
	const floor = numerator / denominator;
	const rest = 2n * (numerator % denominator);
	return rest > denominator || rest === denominator && floor % 2n === 1n ? floor + 1n : floor;
}
// src/client/client_state.ts
/** Tables that older memories lack; left out while empty, so that older clients can read on. */
const NEWER = ["listed_second", "spent_delta"];
const TABLES = [
	"listed",
	"sealed",
	"joined",
	"resent",
	"spent",
	...NEWER
];
const UNIT = 1n << 1074n;
/** More decimal places than any double that is written as short as it can be has. */
const PLACES = 400;
/**
* Remember a list of keys; refuse one that is older than or differs from what was seen.
*
* Otherwise a thief of a replaced signing key could show the list that still names it.
*
* @param rounds The rounds whose openings were verified by the list.
* @returns The newest round that was ever seen open; null if there was none.
*/
function follow(state, plan, { version, digest, hop }, rounds) {
	const listed = hop === 0 ? state.listed : state.listed_second;
	const seen = listed[plan];
	if (seen !== void 0 && version < seen.version) throw new UntrustedError(SHUFFLER_KEYS.what, "is older than one that was seen before");
	if (version === seen?.version && digest !== seen.digest) throw new UntrustedError(SHUFFLER_KEYS.what, "is a second one of the same version");
	const newest = Math.max(seen?.round ?? -1, ...rounds);
	const round = newest < 0 ? null : newest;
	listed[plan] = {
		version,
		digest,
		round
	};
	return round;
}
/** Spend exactly so many nats, and so much chance, on an attribute; refuse what exceeds either. */
function charge(state, attribute, { epsilon, delta }, budget) {
	const costs = [...state.spent[attribute] ?? [], epsilon];
	const chances = [...state.spent_delta[attribute] ?? [], delta];
	const nats = costs.reduce((sum, entry) => sum + units(entry), 0n);
	const chance = chances.reduce((sum, entry) => sum + asWritten(entry), 0n);
	if (nats > units(budget.epsilon) || delta > 0 && chance > asWritten(budget.delta)) throw new BudgetError(attribute, epsilon, budget.epsilon, delta, budget.delta);
	state.spent[attribute] = costs;
	if (delta > 0) state.spent_delta[attribute] = chances;
}
/** A number as people write it, in units of its last possible place: 100 times 1e-8 is 1e-6. */
function asWritten(value) {
	const [, whole, rest = "", exponent] = /^(\d)\.?(\d*)e(.*)$/.exec(value.toExponential()) ?? [];
	return BigInt(`${whole}${rest}`) * 10n ** BigInt(PLACES - rest.length + Number(exponent));
}
/** A double as a multiple of the least one. */
function units(value) {
	const { numerator, denominator } = exactly(value);
	return numerator * UNIT / denominator;
}
/** Read the state in a text; an empty one if there is none yet. */
function readState(text, place) {
	const empty = {
		schema_version: 1,
		sealed: {},
		joined: {},
		resent: {},
		spent: {}
	};
	let state = null;
	try {
		state = withNewer(text === null ? empty : JSON.parse(text));
	} catch {
		throw new StateError(place);
	}
	const right = TABLES.every((name) => typeof state?.[name] === "object" && state[name] !== null);
	if (state?.schema_version !== 1 || !right) throw new StateError(place);
	const tables = TABLES.map((name) => [name, withoutPrototype(state[name])]);
	return {
		...state,
		...Object.fromEntries(tables)
	};
}
/** Write the state as a text. */
function writeState(state) {
	const empty = NEWER.filter((name) => Object.keys(state[name]).length === 0);
	const kept = Object.entries(state).filter(([name]) => !empty.includes(name));
	return JSON.stringify(Object.fromEntries(kept));
}
/** Add the tables that older memories lack; those of version 0.1 have seen no list. */
function withNewer(state) {
	if (typeof state !== "object" || state === null) return state;
	return {
		listed: {},
		listed_second: {},
		spent_delta: {},
		...state
	};
}
/** Copy the entries into a table without a prototype: an attribute may be called "__proto__". */
function withoutPrototype(table) {
	return Object.assign(Object.create(null), table);
}
/** A state that ends with the page or the process. */
var MemoryState = class {
	#text = null;
	#last = Promise.resolve();
	update(use) {
		const next = this.#last.then(async () => {
			const state = readState(this.#text, "the memory");
			const made = await use(state);
			this.#text = writeState(state);
			return made;
		});
		this.#last = next.catch(() => void 0);
		return next;
	}
};
// src/table.ts
/** The tables of a plan: unknown keys are refused, since a client would ignore their meaning. */
/** Return a table with no other keys than these. */
function table(name, value, known) {
	if (!isTable(value)) throw new ParameterError(name, { must: "be a table" });
	const unknown = Object.keys(value).find((entry) => !known.includes(entry));
	if (unknown !== void 0) throw new ParameterError(`${name}.${unknown}`, {
		must: "be known to this client",
		hint: "The plan is newer than this client, or asks for something that it cannot do."
	});
	return value;
}
function wholeNumber(name, value, least, most) {
	if (typeof value === "bigint" || typeof value === "number" && Number.isSafeInteger(value)) {
		const whole = BigInt(value);
		if (least <= whole && whole <= most) return whole;
	}
	throw new ParameterError(name, { must: `be a whole number in [${least}, ${most}]` });
}
/** Return a whole number that a double holds. */
function count(name, value, least, most) {
	return Number(wholeNumber(name, value, BigInt(least), BigInt(most)));
}
function list(name, value) {
	if (!Array.isArray(value)) throw new ParameterError(name, { must: "be a list" });
	return value;
}
function oneOf(name, value, known) {
	const found = known.find((entry) => entry === value);
	if (found === void 0) throw new ParameterError(name, { must: `be one of ${known.join(", ")}` });
	return found;
}
function number(name, value) {
	if (typeof value !== "number" || !Number.isFinite(value)) throw new ParameterError(name, { must: "be a number" });
	return value;
}
// src/words.ts
/** The texts of a plan that people read: on one line, and nothing in them is out of sight. */
/** Control characters, signs without a shape, tags and half characters. */
const HIDDEN = String.raw`\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}\ud800-\udfff`;
const BLANK = String.raw` \u00a0\u115f\u1160\u1680\u180e\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\uffa0`;
/** The signs that shape their neighbours, as in emoji: blank at the beginning. */
const JOINERS = String.raw`\u034f\u200c\u200d\ufe00-\ufe0f\u{e0100}-\u{e01ef}`;
const ONE_LINE = new RegExp(`^[^${HIDDEN}${BLANK}${JOINERS}](?:[^${HIDDEN}]*[^${HIDDEN}${BLANK}])?$`, "u");
const NAME = /^[a-z0-9]+(?:[_-][a-z0-9]+)*$/;
const LONGEST_NAME = 64;
/** Return a text of at most so many characters, if it is given. */
function words(name, value, most) {
	if (value === void 0) return void 0;
	if (typeof value === "string" && isOneLine(value) && [...value].length <= most) return value;
	throw new ParameterError(name, { must: `be a text of 1 to ${most} characters, on one line` });
}
/** Return the name of a question, if it is given. */
function questionName(value) {
	if (value === void 0) return void 0;
	if (typeof value === "string" && NAME.test(value) && value.length <= LONGEST_NAME) return value;
	throw new ParameterError("questions.name", { must: "be letters a-z, digits, hyphens and underscores" });
}
function isOneLine(text) {
	return ONE_LINE.test(text);
}
// src/domain.ts
/** The possible answers, and the index of each. No message shows the answer. */
const MOST_CATEGORIES = 2 ** 40;
const MOST_STEPS = 1e6;
/** One of finitely many answers: 0, 1, …, k - 1, or one of the labels. */
var Categories = class Categories {
	size;
	#places;
	constructor(size, places) {
		this.size = size;
		this.#places = places;
	}
	static of({ k, labels }) {
		if (k === void 0 === (labels === void 0)) throw new ParameterError("k", { must: "be given, or `labels`, not both" });
		if (labels === void 0) return new Categories(count("k", k, 2, MOST_CATEGORIES));
		const names = list("labels", labels).map(name);
		if (names.some((label) => typeof label === "string" && !isOneLine(label))) throw new ParameterError("labels", { must: "be texts on one line, or whole numbers" });
		const places = new Map(names.map((label, place) => [label, place]));
		if (places.size < 2 || places.size !== names.length) throw new ParameterError("labels", { must: "be at least two, all different" });
		return new Categories(places.size, places);
	}
	encode(value) {
		const index = this.#places === void 0 ? Number(whole(value)) : this.#places.get(name(value));
		if (index === void 0 || !(index >= 0 && index < this.size)) throw new DataError(`The value is not among the ${this.size} categories. Map it to one.`);
		return index;
	}
};
/** Return a label in its lookup form: a text, or a whole number of either type. */
function name(label) {
	return typeof label === "string" ? label : whole(label);
}
function whole(value) {
	if (typeof value === "bigint") return value;
	if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
	throw new DataError("The value is neither a whole number nor a text. Map it to a category.");
}
/** A number on the grid low, low + step, …, high: rounded to the nearest point, clamped. */
var Grid = class Grid {
	size;
	#low;
	#step;
	constructor(low, step, size) {
		this.#low = low;
		this.#step = step;
		this.size = size;
	}
	static of(value) {
		const grid = table("grid", value, [
			"low",
			"high",
			"step"
		]);
		const [low, high, step] = [
			grid.low,
			grid.high,
			grid.step
		].map((e) => number("grid", e));
		const steps = (high - low) / step;
		const uneven = Math.abs(steps - halfEven(steps)) > 1e-9 * steps;
		if (!(step > 0 && steps > .5 && steps <= MOST_STEPS) || uneven) throw new ParameterError("grid", { must: "be divided evenly by a positive step" });
		return new Grid(low, step, halfEven(steps) + 1);
	}
	encode(value) {
		const position = typeof value === "number" ? halfEven((value - this.#low) / this.#step) : NaN;
		if (Number.isNaN(position)) throw new DataError("The value is missing, or is not a number.");
		return Math.min(Math.max(position, 0), this.size - 1);
	}
};
/** Return the nearest whole number; of two, the even one, as in IEEE 754. */
function halfEven(value) {
	const floor = Math.floor(value);
	const rest = value - floor;
	if (rest === .5) return floor % 2 === 0 ? floor : floor + 1;
	return rest < .5 ? floor : floor + 1;
}
/** A row with an answer to each of several questions. */
var Product = class {
	parts;
	size;
	constructor(parts) {
		this.parts = parts;
		this.size = parts.reduce((product, part) => product * part.size, 1);
	}
	encode(value) {
		if (!Array.isArray(value) || value.length !== this.parts.length) throw new DataError(`The value must be a list of ${this.parts.length} answers.`);
		return this.parts.map((part, place) => part.encode(value[place]));
	}
};
// src/randomizer.ts
/**
* A local mechanism whose law is a table of integers.
*
* One report consumes integers, the j-th uniform below `drawBounds[j]`. `respond` maps index and
* draws to the report and has no other source of randomness: feeding it every possible row of draws
* yields the channel of the proof, integer by integer.
*/
var Randomizer = class {
	/** The number of possible reports, if dummies can be made of them. */
	alphabetSize = void 0;
	randomize(value, rng) {
		return this.respond(this.domain.encode(value), draw(this.drawBounds, rng));
	}
};
// src/report.ts
const BITS_A_BYTE = 8;
/**
* The number of integers of a report, and the bound of each.
*
* In bytes the integers follow each other with as many bits as their bound needs, most significant
* first, and zeros up to the next full byte.
*/
var ReportFormat = class {
	bounds;
	ascending;
	#widths;
	/** The bytes of every report, whatever its content. */
	size;
	constructor(bounds, ascending = false) {
		this.bounds = bounds;
		this.ascending = ascending;
		this.#widths = bounds.map((bound) => bound > 2n ? (bound - 1n).toString(2).length : 1);
		this.size = Math.ceil(this.#widths.reduce((sum, width) => sum + width, 0) / BITS_A_BYTE);
	}
	/** Tell whether a row of integers is a report. */
	fits(report) {
		if (report.length !== this.bounds.length) return false;
		return report.every((entry, place) => {
			const ascends = !this.ascending || place === 0 || report[place - 1] < entry;
			return entry >= 0n && entry < this.bounds[place] && ascends;
		});
	}
	toBytes(report) {
		if (!this.fits(report)) throw new DataError("A report does not fit the plan.");
		const data = new Uint8Array(this.size);
		let bit = 0;
		for (const [place, width] of this.#widths.entries()) for (let shift = width - 1; shift >= 0; shift -= 1, bit += 1) {
			const set = Number(report[place] >> BigInt(shift) & 1n);
			data[bit >> 3] |= set << 7 - (bit & 7);
		}
		return data;
	}
	/** Read the report in some bytes; refuse wrong lengths, high integers and stray bits. */
	fromBytes(data) {
		if (data.length !== this.size) throw new DataError("A report has another length.");
		let bit = 0;
		const report = this.#widths.map((width) => {
			let entry = 0n;
			for (const end = bit + width; bit < end; bit += 1) entry = entry << 1n | BigInt(data[bit >> 3] >> 7 - (bit & 7) & 1);
			return entry;
		});
		for (; bit < data.length * BITS_A_BYTE; bit += 1) if (data[bit >> 3] >> 7 - (bit & 7) & 1) throw new DataError("A stray bit.");
		if (!this.fits(report)) throw new DataError("A report does not fit the plan.");
		return report;
	}
};
// src/randomizers/parallel.ts
/** Parallel queries: each person answers one of several, drawn in private. */
/**
* Draw one of the queries in private and answer it with the whole epsilon.
*
* Queries share their draws: a report takes as many integers below a bound as the query that needs
* most of them, and the drawn query ignores the others. Every report is padded with zeros.
*/
var ParallelRandomizer = class extends Randomizer {
	queries;
	weights;
	maxEpsilonLocal;
	domain;
	drawBounds;
	reportFormat;
	/** The draws that each query uses. */
	#columns;
	constructor(queries, weights) {
		super();
		this.queries = queries;
		this.weights = weights;
		this.maxEpsilonLocal = Math.max(...queries.map((query) => query.maxEpsilonLocal));
		this.domain = new Product(queries.map((query) => query.domain));
		this.reportFormat = new ParallelFormat(queries.map((query) => query.reportFormat));
		const total = weights.reduce((sum, weight) => sum + weight, 0n);
		const shared = sharedDraws(queries);
		this.drawBounds = [total, ...[...shared].flatMap(([bound, times]) => Array(times).fill(bound))];
		this.#columns = queries.map((query) => columnsOf(query, shared));
	}
	respond(indices, draws) {
		const drawn = weighted(this.weights, draws[0]);
		const query = this.queries[drawn];
		const own = this.#columns[drawn].map((place) => draws[place]);
		const answer = query.respond(indices[drawn], own);
		const padding = this.reportFormat.bounds.length - 1 - answer.length;
		return [
			BigInt(drawn),
			...answer,
			...Array(padding).fill(0n)
		];
	}
};
/** Return the index that a draw below the sum of the weights picks. */
function weighted(weights, draw) {
	let end = 0n;
	return weights.findIndex((weight) => {
		end += weight;
		return draw < end;
	});
}
/** Count the draws below each bound that suffice for any one query. */
function sharedDraws(queries) {
	const shared = /* @__PURE__ */ new Map();
	for (const { drawBounds } of queries) {
		const own = /* @__PURE__ */ new Map();
		for (const bound of drawBounds) own.set(bound, (own.get(bound) ?? 0) + 1);
		for (const [bound, times] of own) shared.set(bound, Math.max(times, shared.get(bound) ?? 0));
	}
	return shared;
}
function columnsOf(query, shared) {
	const free = /* @__PURE__ */ new Map();
	let start = 1;
	for (const [bound, times] of shared) {
		free.set(bound, start);
		start += times;
	}
	return query.drawBounds.map((bound) => {
		const place = free.get(bound);
		free.set(bound, place + 1);
		return place;
	});
}
const greater = (first, second) => {
	if (first > second) return first;
	return second;
};
/** The query, then as many integers as the longest answer has, padded with zeros. */
var ParallelFormat = class extends ReportFormat {
	answers;
	constructor(answers) {
		const longest = Math.max(...answers.map(({ bounds }) => bounds.length));
		const largest = (place) => answers.map(({ bounds }) => bounds[place] ?? 0n).reduce(greater);
		super([BigInt(answers.length), ...Array.from({ length: longest }, (_, place) => largest(place))]);
		this.answers = answers;
	}
	fits(report) {
		if (!super.fits(report)) return false;
		const own = this.answers[Number(report[0])];
		const end = 1 + own.bounds.length;
		return own.fits(report.slice(1, end)) && report.slice(end).every((entry) => entry === 0n);
	}
};
// src/client/turn.ts
/**
* The turns of people: rounds in which they answer, send a null, or stay away.
*
* Nothing here sees a value. Each turn is drawn once per collection and remembered.
*/
/** Refuse a plan whose proof relies on a secret sample of people: nobody draws one here. */
function requireDeployable({ protocol }) {
	if (protocol.model === "subsample") throw new ParameterError("participation.model", { must: "not be subsample where a plan is run: nobody draws the sample here" });
}
/** Return the number of rounds in one collection, of which a person answers one. */
function roundsOfACollection(plan) {
	return plan.everybodyAnswers ? 1 : plan.protocol.rounds;
}
/** Draw a person's turn, independently of the value; the bin is the given one, or drawn. */
function drawTurn(plan, group, rng) {
	const { model, bins, rounds } = plan.protocol;
	if (model.endsWith("bins")) {
		const drawn = Number(integer(BigInt(bins.length), rng));
		const chosen = group === void 0 ? drawn : required(group, bins.length);
		return turn(plan, bins.slice(0, chosen).reduce((sum, weights) => sum + weights.length, 0), bins[chosen], rng);
	}
	if (model === "divide") {
		const own = required(group, rounds);
		return {
			answers: own,
			first: own,
			last: own
		};
	}
	if (group !== void 0) throw new ParameterError("group", { must: `be left out for ${model}` });
	if (model.endsWith("multinomial")) return turn(plan, 0, bins[0], rng);
	return {
		answers: 0,
		first: 0,
		last: 0
	};
}
function turn(plan, start, weights, rng) {
	const total = weights.reduce((sum, weight) => sum + weight, 0n);
	const answers = start + weighted(weights, integer(total, rng));
	if (!plan.protocol.padded) return {
		answers,
		first: answers,
		last: answers
	};
	return {
		answers,
		first: start,
		last: start + weights.length - 1
	};
}
function required(group, groups) {
	if (group !== void 0 && Number.isInteger(group) && group >= 0 && group < groups) return group;
	throw new ParameterError("group", { must: `be in [0, ${groups - 1}]` });
}
// src/client/client.ts
/**
* The client: what leaves a person's device, and its privacy cost.
*
* A value is randomised once per round and forgotten; only sealed bytes are remembered. The time
* at which a report is sent, its length and its presence do not depend on the value.
*/
/** Bits of a double's fraction: a uniform time needs no more of a word. */
const FRACTION = 53n;
/** One person's side of a plan. */
var Client = class {
	plan;
	#choices;
	#budget;
	#spread;
	#rng;
	/** The encoded report of the last batch, for a batch that is refused. */
	#kept;
	constructor(plan, choices) {
		this.plan = plan;
		const { budget, budgetDelta = 1e-6 } = choices;
		const { spread = plan.roundLength / 2, rng = operatingSystem } = choices;
		requireDeployable(plan);
		if (!(budget >= 0 && budget < Number.POSITIVE_INFINITY)) throw new ParameterError("budget", { must: "be a number of nats of at least 0" });
		if (!(budgetDelta >= 0 && budgetDelta <= 1)) throw new ParameterError("budgetDelta", { must: "be a chance in [0, 1]" });
		if (!(spread >= 0 && spread <= plan.roundLength)) throw new ParameterError("spread", { must: `be in [0, ${plan.roundLength}] seconds` });
		this.#choices = choices;
		this.#budget = {
			epsilon: budget,
			delta: budgetDelta
		};
		this.#spread = spread;
		this.#rng = rng;
	}
	/**
	* Return what to send in the open round; null if it is not this person's turn.
	*
	* The first call of a round randomises and seals. Every later call returns the same bytes,
	* whatever the value is by then. "No answer" must be a category of the plan.
	*
	* @param value The person's value; if rounds ask by query, also a function that takes the
	*   question and returns the value.
	*/
	async report(value, served) {
		const delay = this.#delay();
		const { shuffler, keys } = await this.#trusted(served);
		const query = await queryOf(this.plan, served.rounds ?? [], shuffler, keys);
		return this.#choices.memory.update(async (state) => {
			const sealed = state.sealed[this.plan.digest];
			if (sealed !== void 0 && shuffler.round <= sealed.round) {
				if (shuffler.round === sealed.round) return this.#submission(sealed, delay);
				throw new UntrustedError("the key list", "offers a round that has passed");
			}
			const answer = query === null ? value : await answered(value, query);
			this.#requireValue(answer, shuffler.round);
			const turn = this.#turn(state, shuffler.round);
			const position = shuffler.round % roundsOfACollection(this.plan);
			if (position < turn.first || position > turn.last) return null;
			const report = position === turn.answers ? this.#randomised(state, answer, shuffler.round) : encodeReport(this.#format(shuffler.round), null, this.plan.reportSize);
			const kept = {
				batch: shuffler.batch,
				report,
				query: query?.digest ?? ""
			};
			return this.#seal(state, kept, shuffler, delay);
		});
	}
	/** Return the round that `report` would answer. */
	async chosenRound(served) {
		return (await this.#trusted(served)).shuffler.round;
	}
	/**
	* Seal the same report for another batch, after the shuffler signed that it refused it.
	*
	* Return null if no other batch asks the same, or the report is no longer known: then the
	* round is lost. So it is with two shufflers: the first one alone may have signed the refusal and
	* handed the report on all the same, and the second one would see it in two batches.
	*/
	async reseal({ submission, refusal, authorization }, { keyLists }) {
		const { what } = NOT_ACCEPTED;
		const { keys } = await this.#followed(keyLists);
		const signers = signersOf("intake", submission.roundNumber, this.plan, keys);
		const refused = await verified(NOT_ACCEPTED, readDocument(what, refusal), this.plan, signers);
		if (refused.batch !== submission.batch) throw new UntrustedError(what, "is about another batch");
		if (refused.sent !== await sentDigest(authorization, submission.body)) throw new UntrustedError(what, "is not about the request that was sent");
		if (this.plan.shufflerKeys.length > 1) return null;
		const { shuffler } = await this.#trusted({ keyLists });
		const kept = this.#kept;
		if (kept?.batch !== submission.batch || !this.#asksTheSame(shuffler, submission)) return null;
		return this.#choices.memory.update(async (state) => {
			if (state.sealed[this.plan.digest]?.batch !== submission.batch) return null;
			return this.#seal(state, {
				...kept,
				batch: shuffler.batch
			}, shuffler, this.#delay());
		});
	}
	#asksTheSame(shuffler, { batch, roundNumber }) {
		if (shuffler.batch === batch || shuffler.round < roundNumber) return false;
		return shuffler.round === roundNumber || this.plan.everybodyAnswers;
	}
	/** Return the signed opening of the answered round, and who signs for the shuffler. */
	async #trusted({ keyLists, roundNumber }) {
		const { keys, openRounds, onward } = await this.#followed(keyLists);
		const rounds = openRounds.map(({ round }) => round);
		const wanted = roundNumber ?? Math.max(...rounds);
		const place = rounds.indexOf(wanted);
		const shuffler = openRounds[place];
		if (shuffler === void 0) throw new ParameterError("roundNumber", {
			must: "be an open round",
			hint: "Wait for the next."
		});
		for (const own of [keys, ...onward.slice(place, place + 1)]) {
			const newest = await this.#follow(own, rounds);
			if (newest !== null && isReplaced(wanted, newest, own)) throw new UntrustedError(SHUFFLER.what, "uses a release key that was replaced before a round seen earlier");
		}
		return {
			shuffler,
			keys
		};
	}
	/** Return the checked key list, the same on every mirror, and remember the first list of keys. */
	async #followed(keyLists) {
		const [first, ...mirrors] = keyLists;
		if (first === void 0 || mirrors.some((mirror) => !equal(mirror, first))) throw new UntrustedError("the key list", "is not the same on every mirror");
		const read = await readKeyList(first, this.plan);
		await this.#follow(read.keys, read.openRounds.map(({ round }) => round));
		return read;
	}
	#follow(keys, rounds) {
		return this.#choices.memory.update(async (state) => follow(state, this.plan.digest, keys, rounds));
	}
	/** Return the turn of the collection; drawn, and paid for, when it is joined. */
	#turn(state, roundNumber) {
		const { plan } = this;
		const collection = Math.floor(roundNumber / roundsOfACollection(plan));
		const joined = state.joined[plan.digest];
		if (joined?.collection === collection) return joined;
		const times = 1 + (joined?.times ?? 0);
		if (times > plan.reports) throw new ParameterError("roundNumber", {
			must: `be one of the ${plan.reports} rounds that a person may join`,
			hint: "Stay away; collection.rounds of the plan is used up."
		});
		if (joined === void 0 || plan.cost.delta > 0 || !this.#resendsOneReport) charge(state, this.#choices.attribute, plan.cost, this.#budget);
		const turn = drawTurn(plan, this.#choices.group, this.#rng);
		state.joined[plan.digest] = {
			collection,
			times,
			...turn
		};
		return turn;
	}
	get #resendsOneReport() {
		const asked = new Set(this.plan.questions.map((_, number) => this.plan.questionIndex(number)));
		return this.plan.noise === "reused" && asked.size === 1;
	}
	/** Refuse a value that does not fit in every round, not only in the one that was drawn. */
	#requireValue(value, roundNumber) {
		try {
			this.plan.question(roundNumber).domain.encode(value);
		} catch (error) {
			if (error instanceof CroupierError) throw error;
			throw new DataError("The value cannot be randomised. Check its type against the plan.");
		}
	}
	/** Return the encoded report; an earlier one if noise is reused. */
	#randomised(state, value, roundNumber) {
		const place = `${this.plan.digest}/${this.plan.questionIndex(roundNumber)}`;
		const before = state.resent[place];
		if (before !== void 0) return fromHex(before);
		const report = this.plan.question(roundNumber).randomize(value, this.#rng);
		const data = encodeReport(this.#format(roundNumber), report, this.plan.reportSize);
		if (this.plan.noise === "reused") state.resent[place] = hex(data);
		return data;
	}
	#format(roundNumber) {
		return this.plan.question(roundNumber).reportFormat;
	}
	async #seal(state, kept, shuffler, delay) {
		const epoch = epochOf(this.plan, shuffler, kept.query);
		const body = await sealReport(kept.report, shuffler.key, epoch, this.#choices.owner);
		const sealed = {
			round: shuffler.round,
			batch: shuffler.batch,
			body: hex(body)
		};
		state.sealed[this.plan.digest] = sealed;
		this.#kept = kept;
		return this.#submission(sealed, delay);
	}
	#submission({ round, batch, body }, delay) {
		return {
			plan: this.plan.digest,
			roundNumber: round,
			batch,
			body: fromHex(body),
			delay
		};
	}
	/** Draw a uniform delay, before the value is looked at. */
	#delay() {
		const word = this.#rng.words(1)[0];
		return this.#spread * (Number(word >> 64n - FRACTION) / 2 ** Number(FRACTION));
	}
};
/** Return the value that answers a query, if it is a function of the question. */
async function answered(value, { question }) {
	if (typeof value !== "function") return value;
	try {
		return await value(question);
	} catch {
		throw new DataError("The value cannot be found. Check the function that gets the question.");
	}
}
// src/dummies.ts
/** Dummies: reports that a shuffler makes up, a random number of each possible report. */
/**
* Read what a report costs by the dummies of a shuffler's table; undefined if it makes none.
*
* Whether `weights` give that epsilon and delta is checked by whoever draws from them: an honest
* shuffler runs no plan in which those of either shuffler do not.
*/
function dummiesOf({ dummies, keep }) {
	if (keep !== void 0) between("keep", keep, Number.MIN_VALUE, 1);
	if (dummies === void 0) {
		if (keep === void 0) return void 0;
		throw new ParameterError("keep", { must: "come with dummies" });
	}
	const own = table("dummies", dummies, [
		"epsilon",
		"delta",
		"weights"
	]);
	if (own.weights !== void 0) list("weights", own.weights);
	return {
		epsilon: between("epsilon", own.epsilon, .01, 20),
		delta: between("delta", own.delta, 1e-15, .1)
	};
}
function between(name, value, least, most) {
	const given = number(name, value);
	if (given >= least && given <= most) return given;
	throw new ParameterError(name, { must: `be in [${least}, ${most}]` });
}
// src/participation.ts
/** The rule of who takes part in which round: the part of a plan that a client acts on. */
const MODELS = [
	"single",
	"divide",
	"subsample",
	"parallel",
	"multinomial",
	"bins",
	"rectified-parallel",
	"rectified-multinomial",
	"rectified-bins"
];
/** The key that belongs to each model. */
const OWN = {
	divide: "groups",
	subsample: "repeats",
	parallel: "weights",
	multinomial: "weights",
	bins: "bins"
};
/** Models in which the question of a round may depend on what earlier rounds published. */
const ADAPTIVE = [
	"divide",
	"subsample",
	"multinomial",
	"bins"
];
const MOST_ROUNDS = 1e5;
const MOST_WEIGHT = 1n << 62n;
/** Read the rule that a plan's table describes; by default, one round per question. */
function participation(section, questions) {
	const model = oneOf("participation.model", section.model, MODELS);
	const plain = model.replace("rectified-", "");
	const own = OWN[plain];
	for (const name of [
		"groups",
		"repeats",
		"weights",
		"bins"
	]) if (name !== own && section[name] !== void 0) throw new ParameterError(`participation.${name}`, { must: `be left out for ${model}` });
	const given = own === void 0 ? 1 : section[own] ?? questions;
	const bins = own === "bins" ? list("bins", given).map(weightsOf) : [weightsOf(given)];
	const rounds = bins.reduce((sum, weights) => sum + weights.length, 0);
	if (rounds < 1 || rounds > MOST_ROUNDS) throw new ParameterError("participation", { must: `have up to ${MOST_ROUNDS} rounds` });
	if (rounds === 1 && model !== "subsample") return {
		model: "single",
		rounds,
		padded: false,
		adaptive: false,
		bins
	};
	return {
		model,
		rounds,
		padded: model !== plain,
		adaptive: ADAPTIVE.includes(plain),
		bins
	};
}
/** Return the chance of each round: a list, or so many that are equally likely. */
function weightsOf(given) {
	if (!Array.isArray(given)) return Array(count("participation", given, 1, MOST_ROUNDS)).fill(1n);
	const weights = given.map((weight) => wholeNumber("weights", weight, 1n, MOST_WEIGHT));
	if (weights.reduce((sum, weight) => sum + weight, 0n) > MOST_WEIGHT) throw new ParameterError("weights", { must: `sum to at most ${MOST_WEIGHT}` });
	return weights;
}
// src/randomizers/calibrated.ts
/** Randomizers whose integers are chosen to stay below a requested epsilon. */
const COMMON = [
	"mechanism",
	"max_epsilon_local",
	"denominator"
];
const LARGEST_EPSILON = 20;
function maxEpsilonOf({ max_epsilon_local }) {
	const epsilon = number("max_epsilon_local", max_epsilon_local);
	if (epsilon > 0 && epsilon <= LARGEST_EPSILON) return epsilon;
	throw new ParameterError("max_epsilon_local", { must: "be in (0, 20]" });
}
/** Return the sum of the weights. Small ones are for tests, which try every draw. */
function denominatorOf({ denominator }) {
	return denominator === void 0 ? WORD : wholeNumber("denominator", denominator, 2n, WORD);
}
/** Refuse weights that express no law: the likelier one must be above the other. */
function requireLaw(likely, rare) {
	if (likely > rare && rare > 0n) return;
	throw new ParameterError("max_epsilon_local", {
		must: "be expressible by the weights",
		hint: "Raise it, or the denominator."
	});
}
/** Return the least weight of an untrue answer of k that keeps the truth below e^epsilon of it. */
function blanketWeight(denominator, epsilon, k) {
	const low = expBelow(exactly(epsilon));
	const blanket = ceilingOf(denominator * low.denominator, low.numerator + (k - 1n) * low.denominator);
	requireLaw(denominator - (k - 1n) * blanket, blanket);
	return blanket;
}
// src/randomizers/k_rr.ts
/** k-ary randomized response. */
/**
* Tell the truth, or one of the k answers at random.
*
* A draw below k b picks an answer blindly; any other draw reports the truth.
*/
var KaryRandomizedResponse = class extends Randomizer {
	maxEpsilonLocal;
	domain;
	drawBounds;
	reportFormat;
	alphabetSize;
	/** The weight of every answer that is not the truth. */
	blanket;
	constructor(specification) {
		super();
		const own = table("k-rr", specification, [
			...COMMON,
			"k",
			"labels"
		]);
		this.maxEpsilonLocal = maxEpsilonOf(own);
		this.domain = Categories.of(own);
		this.alphabetSize = this.domain.size;
		const [k, denominator] = [BigInt(this.domain.size), denominatorOf(own)];
		this.blanket = blanketWeight(denominator, this.maxEpsilonLocal, k);
		this.drawBounds = [denominator];
		this.reportFormat = new ReportFormat([k]);
	}
	respond(index, draws) {
		const k = BigInt(this.domain.size);
		return [karyResponse(BigInt(index), draws[0], this.blanket, k)];
	}
};
/** Randomise an index below k with one draw. */
function karyResponse(index, draw, blanket, k) {
	const answer = draw / blanket;
	return answer < k ? answer : index;
}
// src/randomizers/local_hashing.ts
/** Local hashing: randomized response over the bucket of a fresh hash. */
/** The largest prime whose cube fits a 64-bit word: one draw is a seed. */
const LARGEST_PRIME = 2642239n;
/**
* Hash the value into g buckets with a hash drawn afresh, report hash and randomised bucket.
*
*     h(x) = ((c2 x^2 + c1 x + c0) mod P) mod g,   seed = c2 P^2 + c1 P + c0.
*/
var LocalHashing = class extends Randomizer {
	maxEpsilonLocal;
	domain;
	drawBounds;
	reportFormat;
	blanket;
	buckets;
	#prime;
	constructor(specification) {
		super();
		const own = table("local-hashing", specification, [
			...COMMON,
			"k",
			"labels",
			"buckets",
			"prime"
		]);
		this.maxEpsilonLocal = maxEpsilonOf(own);
		this.domain = Categories.of(own);
		this.#prime = primeOf(own);
		if (BigInt(this.domain.size) > this.#prime) throw new ParameterError("k", { must: `be at most ${this.#prime}` });
		this.buckets = bucketsOf(own, this.maxEpsilonLocal, this.#prime);
		const denominator = denominatorOf(own);
		this.blanket = blanketWeight(denominator, this.maxEpsilonLocal, this.buckets);
		this.drawBounds = [this.#prime ** 3n, denominator];
		this.reportFormat = new ReportFormat([this.#prime ** 3n, this.buckets]);
	}
	respond(index, draws) {
		const [seed, drawn] = draws;
		return [seed, karyResponse(this.hash(seed, BigInt(index)), drawn, this.blanket, this.buckets)];
	}
	hash(seed, value) {
		const prime = this.#prime;
		const [square, linear, constant] = [
			seed / prime / prime,
			seed / prime % prime,
			seed % prime
		];
		return ((square * value + linear) * value + constant) % prime % this.buckets;
	}
};
function primeOf({ prime }) {
	if (prime === void 0) return LARGEST_PRIME;
	const given = wholeNumber("prime", prime, 2n, LARGEST_PRIME);
	for (let factor = 2n; factor * factor <= given; factor += 1n) if (given % factor === 0n) throw new ParameterError("prime", { must: "be a prime" });
	return given;
}
/** Return the given number of buckets, or the one nearest to e^epsilon + 1. */
function bucketsOf({ buckets }, epsilon, prime) {
	if (buckets !== void 0) return wholeNumber("buckets", buckets, 2n, prime);
	const low = expBelow(exactly(epsilon));
	const best = nearest({
		...low,
		numerator: low.numerator + low.denominator
	});
	return best < prime ? best : prime;
}
// src/randomizers/one_bit_mean.ts
/** One-bit mean: a number becomes one biased coin. */
/**
* Report 1 with a probability that grows linearly from the low to the high end of the grid.
*
*     P(1 | point i of 0, …, m) = [b + (i/m)(D - 2b)]/D, rounded,   b = ceil(D / (e^epsilon + 1)).
*/
var OneBitMean = class extends Randomizer {
	maxEpsilonLocal;
	domain;
	drawBounds;
	reportFormat = new ReportFormat([2n]);
	#denominator;
	#least;
	constructor(specification) {
		super();
		const own = table("one-bit-mean", specification, [...COMMON, "grid"]);
		this.maxEpsilonLocal = maxEpsilonOf(own);
		this.domain = Grid.of(own.grid);
		this.#denominator = denominatorOf(own);
		this.drawBounds = [this.#denominator];
		const low = expBelow(exactly(this.maxEpsilonLocal));
		this.#least = ceilingOf(this.#denominator * low.denominator, low.numerator + low.denominator);
		requireLaw(this.#denominator - this.#least, this.#least);
	}
	/** The weight of a 1 at a grid point. */
	one(index) {
		const last = BigInt(this.domain.size - 1);
		const span = this.#denominator - 2n * this.#least;
		return this.#least + (2n * BigInt(index) * span + last) / (2n * last);
	}
	respond(index, draws) {
		return [draws[0] >= this.#denominator - this.one(index) ? 1n : 0n];
	}
};
// src/randomizers/plain.ts
/** The value itself, without noise: for plans whose shufflers add dummies. */
/**
* Report the value itself.
*
* The report alone protects nothing. A plan is refused where no shuffler adds dummies.
*/
var Plain = class extends Randomizer {
	maxEpsilonLocal = Number.POSITIVE_INFINITY;
	domain;
	/** One draw, always 0: nothing is random. */
	drawBounds = [1n];
	reportFormat;
	alphabetSize;
	constructor(specification) {
		super();
		this.domain = Categories.of(table("plain", specification, [
			"mechanism",
			"k",
			"labels"
		]));
		this.alphabetSize = this.domain.size;
		this.reportFormat = new ReportFormat([BigInt(this.domain.size)]);
	}
	respond(index) {
		return [BigInt(index)];
	}
};
// src/randomizers/unary_encoding.ts
/** Unary encoding: one noisy bit per category. */
const MOST_BITS = 2 ** 20;
/** Report k bits: bit j is set if its draw is below the weight of the own bit, or of any other. */
var UnaryEncoding = class extends Randomizer {
	maxEpsilonLocal;
	domain;
	drawBounds;
	reportFormat;
	bitWeights;
	constructor(specification, weights) {
		super();
		const own = table(String(specification.mechanism), specification, [
			...COMMON,
			"k",
			"labels"
		]);
		this.maxEpsilonLocal = maxEpsilonOf(own);
		this.domain = Categories.of(own);
		const k = this.domain.size;
		if (k > MOST_BITS) throw new ParameterError("k", { must: `be at most ${MOST_BITS}` });
		const denominator = denominatorOf(own);
		this.bitWeights = weights(denominator, this.maxEpsilonLocal);
		requireLaw(this.bitWeights.own, this.bitWeights.other);
		requireLaw(denominator, this.bitWeights.own);
		this.drawBounds = Array(k).fill(denominator);
		this.reportFormat = new ReportFormat(Array(k).fill(2n));
	}
	respond(index, draws) {
		const { own, other } = this.bitWeights;
		return draws.map((draw, place) => draw < (place === index ? own : other) ? 1n : 0n);
	}
};
/** Flip every bit with the same probability: b = ceil(D / (e^(epsilon/2) + 1)), a = D - b. */
var SymmetricUnaryEncoding = class extends UnaryEncoding {
	constructor(specification) {
		super(specification, (denominator, epsilon) => {
			const whole = exactly(epsilon);
			const low = expBelow({
				...whole,
				denominator: 2n * whole.denominator
			});
			const flip = ceilingOf(denominator * low.denominator, low.numerator + low.denominator);
			return {
				own: denominator - flip,
				other: flip
			};
		});
	}
};
/**
* Set the own bit with probability one half, any other as rarely as epsilon allows.
*
* At an odd denominator one half is rounded up and the rest follows from the ratio that remains.
*/
var OptimizedUnaryEncoding = class extends UnaryEncoding {
	constructor(specification) {
		super(specification, (denominator, epsilon) => {
			const own = (denominator + 1n) / 2n;
			const low = expBelow(exactly(epsilon));
			const odds = own * low.denominator;
			return {
				own,
				other: ceilingOf(denominator * odds, odds + (denominator - own) * low.numerator)
			};
		});
	}
};
// src/randomizers/registry.ts
/** Mechanisms by their name in a plan. */
const MECHANISMS = /* @__PURE__ */ new Map([
	["k-rr", KaryRandomizedResponse],
	["symmetric-unary", SymmetricUnaryEncoding],
	["optimized-unary", OptimizedUnaryEncoding],
	["local-hashing", LocalHashing],
	["one-bit-mean", OneBitMean],
	["plain", Plain]
]);
/** Return the randomizer of a specification. */
function build(specification) {
	const own = isTable(specification) ? specification : {};
	const Mechanism = MECHANISMS.get(own.mechanism);
	if (Mechanism !== void 0) return new Mechanism(own);
	throw new ParameterError("mechanism", {
		must: `be one of ${[...MECHANISMS.keys()].join(", ")}`,
		hint: "The Python client has them all."
	});
}
// src/plan.ts
/** The plan: the part that a client needs, read from the canonical text that its digest names. */
const SECTIONS = [
	"schema",
	"title",
	"purpose",
	"questions",
	"participation",
	"collection",
	"shuffling",
	"protections",
	"shufflers",
	"analyzer",
	"guarantee"
];
const ROUNDS = [
	"model",
	"noise",
	"groups",
	"repeats",
	"weights",
	"bins"
];
const PROTECTIONS = [
	"minimum_batch",
	"report_size",
	"messages",
	"disposal_age"
];
const UNITS = {
	s: 1,
	m: 60,
	h: 3600,
	d: 86400
};
/** Version and kind of a report. */
const HEAD = 2;
/** The largest number of possible reports for which dummies are made. */
const MOST_BINS = 1e5;
const MOST_SHUFFLERS = 2;
/** A collection, as far as a client acts on it. */
var Plan = class Plan {
	canonical;
	digest;
	/** The texts that people read: what the collection is called, and what it is for. */
	title;
	purpose;
	/** The words of every question, if the plan has them. */
	wordings;
	questions;
	protocol;
	/** The number of times that a person may join. */
	reports;
	noise;
	/** The bytes of a report before it is sealed. */
	reportSize;
	/** The length of a round in seconds. */
	roundLength;
	/** True if the shuffler learns the sender's public place, because it mixes by groups. */
	owned;
	/** The Ed25519 keys that sign for the shufflers and the analyzer, in hexadecimal. */
	shufflerKeys;
	analyzerKey;
	/** The cost of one report to a person's budget. */
	cost;
	#parallel;
	constructor(canonical, digest) {
		this.canonical = canonical;
		this.digest = digest;
		const plan = table("plan", readJson(canonical), SECTIONS);
		oneOf("schema", plan.schema, [2]);
		this.title = words("title", plan.title, 200);
		this.purpose = words("purpose", plan.purpose, 2e3);
		const questions = list("questions", plan.questions);
		this.wordings = questions.map(wordingOf);
		requireDifferentNames(this.wordings);
		this.questions = questions.map(mechanismOf).map(build);
		const rounds = table("participation", plan.participation, ROUNDS);
		this.protocol = participation(rounds, this.questions.length);
		this.noise = oneOf("participation.noise", rounds.noise, ["fresh", "reused"]);
		const collection = table("collection", plan.collection, ["every", "rounds"]);
		const repeats = this.protocol.model === "subsample" ? this.protocol.rounds : 1;
		this.reports = repeats * count("collection.rounds", collection.rounds, 1, 1e5);
		const protections = table("protections", plan.protections, PROTECTIONS);
		this.reportSize = count("protections.report_size", protections.report_size, 4, 65536);
		oneOf("protections.messages", protections.messages, [1]);
		this.roundLength = seconds(collection.every);
		const shuffling = table("shuffling", plan.shuffling, [
			"order",
			"alpha",
			"groups"
		]);
		this.owned = shuffling.groups !== void 0;
		const shufflers = shufflersOf(plan.shufflers);
		this.shufflerKeys = shufflers.map(({ key }) => key);
		this.analyzerKey = publicKey("analyzer", plan.analyzer, ["publication"]);
		this.#parallel = this.#inParallel();
		const dummies = shufflers.map((shuffler) => shuffler.dummies);
		this.#requireShufflersFit(dummies);
		this.cost = costOf(this.questions, dummies);
		this.#requireRoom();
		if (this.noise === "reused" && this.asksByQuery) throw new ParameterError("participation.noise", { must: "be \"fresh\" where the analyzer decides what each round asks" });
	}
	/** Read the plan in a text, if the text has the digest that the person agreed to. */
	static async read(canonical, digest) {
		if (hex(await sha256(utf8(canonical))) !== digest) throw new UntrustedError("the plan", "does not have the digest that was agreed to");
		return new Plan(canonical, digest);
	}
	/** The key that signs for the first shuffler, which clients send to. */
	get shufflerKey() {
		return this.shufflerKeys[0];
	}
	/** True if every person answers in every round, so that all rounds are alike. */
	get everybodyAnswers() {
		return [
			"single",
			"parallel",
			"rectified-parallel"
		].includes(this.protocol.model);
	}
	/** True if a round asks what the analyzer signs for it, after seeing the rounds before. */
	get asksByQuery() {
		const { adaptive, rounds } = this.protocol;
		return adaptive && rounds > 1 && this.questions.length === 1;
	}
	/** Return the question that a round asks: rounds take turns, but parallel questions are one. */
	questionIndex(roundNumber) {
		return this.#parallel === void 0 ? roundNumber % this.questions.length : 0;
	}
	/** Return the randomizer that a client applies to its value in a round. */
	question(roundNumber) {
		return this.#parallel ?? this.questions[this.questionIndex(roundNumber)];
	}
	#inParallel() {
		const { model, rounds, bins } = this.protocol;
		const asked = this.questions.length;
		if (asked !== 1 && asked !== rounds) throw new ParameterError("questions", { must: `be 1 or ${rounds}, one per round` });
		if (!model.endsWith("parallel")) return void 0;
		return new ParallelRandomizer(Array.from({ length: rounds }, (_, place) => this.questions[place % asked]), bins[0]);
	}
	/** Refuse shufflers and dummies for which nothing is proved. */
	#requireShufflersFit(dummies) {
		const adds = dummies.some((own) => own !== void 0);
		if (!adds && this.questions.some((own) => own.maxEpsilonLocal === Number.POSITIVE_INFINITY)) throw new ParameterError("mechanism", { must: "not be plain where no shuffler adds dummies: it sends the value itself" });
		if (!adds && dummies.length === 1) return;
		if (this.owned || !this.everybodyAnswers) throw new ParameterError("shufflers", { must: "be one, without dummies, where people are in groups or send nulls" });
		const bins = (this.#parallel ?? this.questions[0]).alphabetSize;
		if (adds && (bins === void 0 || bins > MOST_BINS)) throw new ParameterError("shufflers.dummies", { must: `be for plain or k-rr, of at most ${MOST_BINS} values` });
	}
	#requireRoom() {
		const sent = this.#parallel === void 0 ? this.questions : [this.#parallel];
		const longest = HEAD + Math.max(...sent.map(({ reportFormat }) => reportFormat.size));
		if (this.reportSize < longest) throw new ParameterError("protections.report_size", { must: `be at least ${longest}` });
	}
};
function seconds(duration) {
	const [, amount, unit] = /^(\d{1,8})([smhd])$/.exec(String(duration)) ?? [];
	if (amount === void 0) throw new ParameterError("collection.every", { must: "be like \"24h\"" });
	return Number(amount) * UNITS[unit];
}
/** Return the key of a party, whose table must have no other entries than these. */
function publicKey(name, party, others) {
	const { key, operator } = table(name, party, [
		"operator",
		"key",
		...others
	]);
	words(`${name}.operator`, operator, 200);
	if (typeof key === "string" && /^[0-9a-f]{64}$/.test(key)) return key;
	throw new ParameterError(`${name}.key`, { must: "be given to deploy a plan" });
}
function shufflersOf(value) {
	const entries = list("shufflers", value);
	if (entries.length < 1 || entries.length > MOST_SHUFFLERS) throw new ParameterError("shufflers", { must: "be one or two tables" });
	const made = entries.map((entry) => ({
		key: publicKey("shufflers", entry, ["dummies", "keep"]),
		dummies: dummiesOf(entry)
	}));
	if (new Set(made.map(({ key }) => key)).size < made.length) throw new ParameterError("shufflers.key", { must: "differ from that of the other shuffler" });
	return made;
}
/**
* Return the cost of one report: of the mechanism alone or, if that is less, of the weakest dummies.
*
* Nobody knows which of two shufflers is honest. One alone counts only if the mechanism is nothing.
*/
function costOf(questions, dummies) {
	const local = Math.max(...questions.map(({ maxEpsilonLocal }) => maxEpsilonLocal));
	const made = dummies.filter((own) => own !== void 0);
	const epsilon = Math.max(...made.map((own) => own.epsilon));
	const relyOnOne = dummies.length === 1 && Number.isFinite(local);
	if (made.length < dummies.length || relyOnOne || local <= epsilon) return {
		epsilon: local,
		delta: 0
	};
	return {
		epsilon,
		delta: Math.max(...made.map((own) => own.delta))
	};
}
/** Return a question without its text, which no report depends on. */
function mechanismOf(question) {
	if (!isTable(question)) return question;
	const { name: _name, text: _text, ...mechanism } = question;
	return mechanism;
}
function wordingOf(question) {
	if (!isTable(question)) return {
		name: void 0,
		text: void 0
	};
	return {
		name: questionName(question.name),
		text: words("questions.text", question.text, 1e3)
	};
}
/** Refuse two questions of one name; those without are called by their number. */
function requireDifferentNames(wordings) {
	const names = wordings.map(({ name }, place) => name ?? `question-${place + 1}`);
	if (new Set(names).size !== names.length) throw new ParameterError("questions.name", { must: "differ from the others" });
}
// src/protocol/superseded.ts
/**
* Pointers from a plan that is no longer served to the plan that took its place.
*
* The root that the old plan names for its first shuffler signs the pointer. It comes with the text
* of the old plan, so that a page that knows only the digest can check it.
*/
const day = (value) => typeof value === "string" && /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(value);
const POINTER = {
	what: "the pointer to the plan's successor",
	signer: "shufflerKey",
	purpose: "superseded",
	entries: {
		...COMMON$1,
		kind: exactly$1("superseded"),
		successor: digits(32)
	},
	optional: { date: day }
};
const PARTS = {
	schema_version: isWireVersion,
	plan: (value) => typeof value === "string",
	superseded: isTable
};
/** Return the error that tells what happened to a plan, if its shuffler's root signed that. */
async function supersededBy(data, digest) {
	const parts = requireShape(POINTER.what, readServed(POINTER.what, data), PARTS);
	const plan = await Plan.read(String(parts.plan), digest);
	const { successor, date } = await verified(POINTER, parts.superseded, plan);
	if (successor === digest) throw new UntrustedError(POINTER.what, "leads to the same plan");
	return new SupersededError(String(successor), date === void 0 ? void 0 : String(date));
}
/** Tell whether an answer claims to be a pointer, true or not. */
function isPointer(data) {
	try {
		const document = readJson(new TextDecoder().decode(data));
		return isTable(document) && Object.hasOwn(document, "superseded");
	} catch {
		return false;
	}
}
// src/client/conversation.ts
const FIRST_PAUSE = 1;
const LONGEST_PAUSE = 300;
/** Seconds from the first attempt to connect until the last byte of an answer. */
const TIMEOUT = 30;
/** Bytes of an answer, decompressed: a key list is its plan and a few hundred per open round. */
const LARGEST_ANSWER = 2 ** 20;
/** Seconds that one timer can hold. */
const LONGEST_TIMER = 2 ** 31 / 1e3 - 1;
const A_MINUTE = 60;
const [NOT_FOUND, GONE] = [404, 410];
/**
* Fetch the plan of a digest, from a server that need not be trusted with it.
*
* Throws as `submit` does if the plan was superseded or is not offered.
*/
async function loadPlan(digest, server, transport = {}) {
	const [request] = server.get(digest);
	const answer = await askPatiently(request, A_MINUTE, transport);
	if (answer === null) throw new UntrustedError("this server", "does not answer", "Check the address and the plan's digest.");
	return Plan.read(planText(await offered(answer, digest)), digest);
}
/**
* Take part in the open round, from the first step to the last.
*
* Throws a SupersededError if another plan took the place of this one: what was sealed and spent
* stays remembered, and nothing more is sent. Throws a NotOfferedError if the server or a mirror
* does not have the plan.
*
* @param value The person's value, or a function of the question if rounds ask by query.
*/
async function submit(client, value, server, { roundNumber, ...transport } = {}) {
	const served = await serve(client, server, roundNumber, transport);
	if (served === null) return "no answer in time";
	const submission = await client.report(value, served);
	if (submission === null) return "not this person's turn";
	const sent = await send(client, server, submission, transport);
	if (sent.outcome !== "the batch was closed") return sent.outcome;
	const keyLists = await fromEverywhere(client, server, "", transport);
	if (keyLists === null) return sent.outcome;
	const refused = {
		submission,
		refusal: sent.body,
		authorization: server.authorization()
	};
	const again = await client.reseal(refused, { keyLists });
	return again === null ? sent.outcome : (await send(client, server, again, transport)).outcome;
}
/** Fetch the key lists and, if rounds ask by query, the documents of the round. */
async function serve(client, server, roundNumber, transport) {
	const keyLists = await fromEverywhere(client, server, "", transport);
	if (keyLists === null) return null;
	const served = roundNumber === void 0 ? { keyLists } : {
		keyLists,
		roundNumber
	};
	if (!client.plan.asksByQuery) return served;
	const rounds = await fromEverywhere(client, server, `/rounds/${await client.chosenRound(served)}`, transport);
	return rounds && {
		...served,
		rounds
	};
}
/** Fetch a document from the server, then its mirrors; null if one does not answer. */
async function fromEverywhere({ plan }, server, path, transport) {
	const lists = [];
	for (const [place, request] of server.get(plan.digest, path).entries()) {
		const answer = await askPatiently(request, plan.roundLength, transport);
		if (answer === null) return null;
		const who = place === 0 ? "server" : "mirror";
		const what = path === "" ? "the plan" : "the round of the plan";
		lists.push(await offered(answer, plan.digest, {
			who,
			what
		}));
	}
	return lists;
}
/** Return the document in an answer; throw what the answer says if there is none. */
async function offered({ status, body }, digest, names = {}) {
	if (status === GONE) throw await supersededBy(body, digest);
	if (status !== 200) throw new NotOfferedError(status, names);
	return body;
}
async function send({ plan }, server, submission, transport) {
	await (transport.sleep ?? sleep)(submission.delay);
	const answer = await askPatiently(server.post(submission), plan.roundLength, transport);
	if (answer === null) return {
		outcome: "no answer in time",
		body: /* @__PURE__ */ new Uint8Array(0)
	};
	const { status, body } = answer;
	if (status === GONE && isPointer(body)) throw await supersededBy(body, plan.digest);
	if (status === NOT_FOUND) throw new NotOfferedError(status);
	return {
		outcome: {
			202: "accepted",
			409: "the batch was closed"
		}[status] ?? "refused",
		body
	};
}
/**
* Repeat a request, byte for byte, while the server is silent or busy, and return the answer.
*
* Pauses double and have a random length, so that clients do not return together. Return null
* once the pauses would add up to more than so many seconds.
*/
async function askPatiently(request, seconds, transport) {
	let [waited, pause] = [0, FIRST_PAUSE];
	for (;;) {
		const answer = await ask(request, transport);
		if (answer !== null && answer.status !== 429 && answer.status < 500) return answer;
		const share = Number(operatingSystem.words(1)[0]) / 2 ** 64;
		const wait = Math.max(askedPause(answer), pause / 2 * (1 + share));
		waited += wait;
		if (waited > seconds) return null;
		await (transport.sleep ?? sleep)(wait);
		pause = Math.min(2 * pause, LONGEST_PAUSE);
	}
}
function askedPause(answer) {
	const text = answer?.retryAfter ?? "";
	return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}
/** Send one request and return its answer; null if there is no complete one in time. */
async function ask(request, transport) {
	const controller = new AbortController();
	let timer;
	const late = new Promise((giveUp) => {
		const end = () => {
			controller.abort();
			giveUp(null);
		};
		timer = setTimeout(end, 1e3 * (transport.timeout ?? TIMEOUT));
	});
	try {
		return await Promise.race([exchange(request, transport, controller.signal), late]);
	} finally {
		clearTimeout(timer);
	}
}
/** Send one request, without any browser data that can be suppressed. */
async function exchange(request, transport, signal) {
	const { url, ...own } = request;
	const quiet = {
		cache: "no-store",
		credentials: "omit",
		redirect: "error",
		referrerPolicy: "no-referrer",
		signal
	};
	try {
		const response = await (transport.fetch ?? fetch)(url, {
			...own,
			...quiet
		});
		const body = await wholeBody(response);
		if (body === null) return null;
		return {
			status: response.status,
			body,
			retryAfter: response.headers.get("Retry-After")
		};
	} catch {
		return null;
	}
}
/** Read the body of an answer; null if it is larger than any legitimate one. */
async function wholeBody(response) {
	const body = new Uint8Array(LARGEST_ANSWER);
	let size = 0;
	const reader = response.body?.getReader();
	for (let next = await reader?.read(); next?.value; next = await reader?.read()) {
		if (size + next.value.length > LARGEST_ANSWER) {
			await reader?.cancel();
			return null;
		}
		body.set(next.value, size);
		size += next.value.length;
	}
	return body.slice(0, size);
}
async function sleep(seconds) {
	for (let left = seconds; left > 0; left -= LONGEST_TIMER) {
		const part = Math.min(left, LONGEST_TIMER);
		await new Promise((resolve) => setTimeout(resolve, 1e3 * part));
	}
}
// src/client/local_storage_state.ts
/** A client's memory in the browser's local storage, locked against other pages. */
/**
* A state under one key of local storage.
*
* Clearing the storage lets the client randomise again.
*/
var LocalStorageState = class {
	key;
	storage;
	locks;
	constructor(key, storage = localStorage, locks = navigator.locks) {
		this.key = key;
		this.storage = storage;
		this.locks = locks;
		if (locks === void 0) throw new ParameterError("locks", {
			must: "be those of a secure page",
			hint: "Serve the page over https."
		});
	}
	update(use) {
		return this.locks.request(`croupier ${this.key}`, async () => {
			const state = readState(this.storage.getItem(this.key), this.key);
			const made = await use(state);
			this.storage.setItem(this.key, writeState(state));
			return made;
		});
	}
};
// src/client/server.ts
/** Headers for Node; browsers send their own, and count decompressed bytes as the answer. */
const AGENT = {
	"User-Agent": "croupier",
	"Accept-Encoding": "identity"
};
const LOOPBACK = [
	"127.0.0.1",
	"[::1]",
	"localhost"
];
var Server = class {
	#urls;
	/** The header that admits the sender. */
	#authorization;
	constructor({ url, credential, mirrors = [], insecureHttp = false }) {
		this.#urls = [url, ...mirrors].map((entry) => origin(entry, insecureHttp));
		if (!/^[ -~]+$/.test(credential)) throw new ParameterError("credential", { must: "be printable ASCII" });
		this.#authorization = `Bearer ${credential}`;
	}
	/** Return the header that admits the sender; a method, so that printing does not show it. */
	authorization() {
		return this.#authorization;
	}
	/** Ask for the key list of a plan, or a document below it: here, then on every mirror. */
	get(plan, path = "") {
		return this.#urls.map((url) => ({
			method: "GET",
			url: `${url}/v1/plans/${plan}${path}`,
			headers: AGENT
		}));
	}
	/** Send envelopes. */
	post({ plan, batch, body }) {
		const headers = {
			...AGENT,
			"Content-Type": "application/octet-stream",
			"Croupier-Batch": batch,
			Authorization: this.#authorization
		};
		return {
			method: "POST",
			url: `${this.#urls[0]}/v1/plans/${plan}/reports`,
			headers,
			body
		};
	}
};
function origin(url, insecureHttp) {
	const { protocol, hostname } = URL.canParse(url) ? new URL(url) : {
		protocol: "",
		hostname: ""
	};
	if ((protocol === "https:" || LOOPBACK.includes(hostname) || insecureHttp) && ["http:", "https:"].includes(protocol)) return url.replace(/\/+$/, "");
	throw new ParameterError("url", { must: "begin with https://" });
}
export { BudgetError, Client, CroupierError, DataError, LocalStorageState, MalformedReportError, MemoryState, NotOfferedError, ParameterError, Plan, Server, StateError, SupersededError, UntrustedError, loadPlan, operatingSystem, submit };
