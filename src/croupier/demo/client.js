// \0rolldown/runtime.js
var __defProp = Object.defineProperty;
var __esmMin = (fn, res, err) => () => {
	if (err) throw err[0];
	try {
		return fn && (res = fn(fn = 0)), res;
	} catch (e) {
		throw err = [e], e;
	}
};
var __exportAll = (all, no_symbols) => {
	let target = {};
	for (var name in all) __defProp(target, name, {
		get: all[name],
		enumerable: true
	});
	if (!no_symbols) __defProp(target, Symbol.toStringTag, { value: "Module" });
	return target;
};
// src/bytes.ts
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
var utf8;
var init_bytes = __esmMin((() => {
	utf8 = (text) => new TextEncoder().encode(text);
}));
// src/errors.ts
var CroupierError, ParameterError, DataError, MalformedReportError, UntrustedError, SupersededError, NotOfferedError, CertificateError, NotAdmittedError, NoTokenError, BudgetError, StateError;
var init_errors = __esmMin((() => {
	CroupierError = class extends Error {
		constructor(message) {
			super(message);
			this.name = new.target.name;
		}
	};
	ParameterError = class extends CroupierError {
		parameter;
		constructor(parameter, { must, hint = "" }) {
			super(`\`${parameter}\` must ${must}.${hint && ` ${hint}`}`);
			this.parameter = parameter;
		}
	};
	DataError = class extends CroupierError {};
	MalformedReportError = class extends CroupierError {
		reason;
		constructor(reason) {
			super(`Not a report of this plan: its ${reason} is wrong. Refuse it.`);
			this.reason = reason;
		}
	};
	UntrustedError = class extends CroupierError {
		what;
		problem;
		constructor(what, problem, advice = "Do not use it; ask its operator.") {
			super(`${what} ${problem}. ${advice}`);
			this.what = what;
			this.problem = problem;
		}
	};
	SupersededError = class extends CroupierError {
		successor;
		date;
		constructor(successor, date) {
			super(`This plan was superseded by plan ${successor.slice(0, 16)}…: install the version of the app that has it.`);
			this.successor = successor;
			this.date = date;
		}
	};
	NotOfferedError = class extends CroupierError {
		status;
		constructor(status, { who = "server", what = "the plan" } = {}) {
			super(`This ${who} does not offer ${what} (${status}). Check the address and the plan's digest.`);
			this.status = status;
		}
	};
	CertificateError = class extends CroupierError {
		host;
		reason;
		constructor(host, reason, hint) {
			super(`The connection to ${host} cannot be trusted: ${reason}. ${hint}`);
			this.host = host;
			this.reason = reason;
		}
	};
	NotAdmittedError = class extends CroupierError {
		status;
		constructor(status) {
			super({
				403: "The issuer does not admit this device (403). Check the proof of enrolment.",
				409: "The invitation was used by another device (409). Ask for another one."
			}[status] ?? `The issuer does not enrol devices (${status}). Check its address.`);
			this.status = status;
		}
	};
	NoTokenError = class extends CroupierError {
		roundNumber;
		constructor(roundNumber) {
			super(`There is no token for round ${roundNumber}. Nothing was randomised. Tokens of a round are given out before it opens: fetch the next one.`);
			this.roundNumber = roundNumber;
		}
	};
	BudgetError = class extends CroupierError {
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
	StateError = class extends CroupierError {
		place;
		constructor(place) {
			super(`${place} is not a client's memory. Restore it; nothing was randomised.`);
			this.place = place;
		}
	};
}));
// src/keystream.ts
/**
* Draw a uniform integer below each of the bounds.
*
* Words are taken in the order of Python's, so that the same words give the same integers: those of
* equal neighbours together, and the rejected ones among them again.
*/
function draw(bounds, rng) {
	const drawn = [];
	let start = 0;
	bounds.forEach((below, place) => {
		if (below === bounds[place + 1]) return;
		drawn.push(integers$1(below, place + 1 - start, rng));
		start = place + 1;
	});
	return drawn.flat();
}
/**
* Draw so many uniform integers below a bound.
*
* A word counts if it lies below the largest multiple of the bound, and is drawn again otherwise.
*/
function integers$1(below, size, rng) {
	const accepted = WORD - WORD % below;
	const words = Array.from(rng.words(size));
	const isRejected = (place) => words[place] >= accepted;
	let rejected = [...words.keys()].filter(isRejected);
	while (rejected.length > 0) {
		const fresh = rng.words(rejected.length);
		rejected.forEach((place, number) => {
			words[place] = fresh[number];
		});
		rejected = rejected.filter(isRejected);
	}
	return words.map((word) => word % below);
}
var WORD, MOST_AT_ONCE, operatingSystem, integer;
var init_keystream = __esmMin((() => {
	WORD = 1n << 64n;
	MOST_AT_ONCE = 8192;
	operatingSystem = { words(size) {
		const words = new BigUint64Array(size);
		for (let start = 0; start < size; start += MOST_AT_ONCE) crypto.getRandomValues(words.subarray(start, start + MOST_AT_ONCE));
		return words;
	} };
	integer = (below, rng) => draw([below], rng)[0];
}));
// src/json.ts
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
var TOKEN, MARK;
var init_json = __esmMin((() => {
	TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
	MARK = "\0whole number ";
}));
// src/protocol/signature.ts
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
var init_signature = __esmMin((() => {
	init_bytes();
	init_json();
}));
// src/protocol/signed_document.ts
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
/** Refuse a list that is older than one that was seen, or a second one of its version. */
function requireNotBefore(what, list, seen) {
	if (seen !== void 0 && list.version < seen.version) throw new UntrustedError(what, "is older than one that was seen before");
	if (list.version === seen?.version && list.digest !== seen.digest) throw new UntrustedError(what, "is a second one of the same version");
}
var digits, exactly$1, whole$1, roundNumber, SHAPE, COMMON$1;
var init_signed_document = __esmMin((() => {
	init_errors();
	init_json();
	init_signature();
	digits = (size) => (value) => typeof value === "string" && value.length === 2 * size && /^[0-9a-f]*$/.test(value);
	exactly$1 = (text) => (value) => value === text;
	whole$1 = (least, most) => (value) => typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
	roundNumber = whole$1(0, 2 ** 31 - 1);
	SHAPE = "has missing, unknown or impossible entries";
	COMMON$1 = {
		plan: digits(32),
		signature: digits(64)
	};
}));
// src/protocol/party_keys.ts
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
var RELEASE, INTAKE, rising, SHUFFLER_KEYS;
var init_party_keys = __esmMin((() => {
	init_bytes();
	init_json();
	init_signed_document();
	RELEASE = {
		from_round: roundNumber,
		key: digits(32)
	};
	INTAKE = {
		...RELEASE,
		seal: digits(32)
	};
	rising = (entries) => (value) => {
		if (!Array.isArray(value) || !value.every((entry) => hasShape(entry, entries))) return false;
		const rounds = value.map(({ from_round }) => from_round);
		return rounds[0] === 0 && rounds.every((round, place) => round > (rounds[place - 1] ?? -1));
	};
	SHUFFLER_KEYS = {
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
}));
// src/protocol/token_keys.ts
/** Return the list in a document, if the root of the plan's issuer signed it. */
async function tokenKeys(document, plan) {
	const read = await verified(TOKEN_KEYS, document, plan, [String(plan.admission.key)]);
	const { version, first, keys } = read;
	return {
		version,
		first,
		keys,
		digest: hex(await sha256(utf8(canonical(read))))
	};
}
/** Return the key of a round; null if the list has none. */
async function tokenKeyOf({ first, keys }, round) {
	const modulus = keys[round - first];
	if (modulus === void 0) return null;
	const id = await sha256(fromHex(HEAD$3 + modulus + TAIL));
	return {
		modulus: BigInt(`0x${modulus}`),
		id
	};
}
var MOST_KEYS, MODULUS, HEAD$3, TAIL, moduli, TOKEN_KEYS;
var init_token_keys = __esmMin((() => {
	init_bytes();
	init_json();
	init_signed_document();
	MOST_KEYS = 64;
	MODULUS = /^[89a-f][0-9a-f]{510}[13579bdf]$/;
	HEAD$3 = "30820152303d06092a864886f70d01010a3030a00d300b0609608648016503040202a11a301806092a864886f70d010108300b0609608648016503040202a2030201300382010f003082010a0282010100";
	TAIL = "0203010001";
	moduli = (value) => Array.isArray(value) && value.length >= 1 && value.length <= MOST_KEYS && new Set(value).size === value.length && value.every((key) => typeof key === "string" && MODULUS.test(key));
	TOKEN_KEYS = {
		what: "the list of the issuer's keys",
		purpose: "token keys",
		entries: {
			...COMMON$1,
			kind: exactly$1("token keys"),
			version: whole$1(1, 2 ** 32 - 1),
			first: roundNumber,
			keys: moduli
		}
	};
}));
// src/protocol/key_list.ts
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
	if (list.plan !== plan.canonical) throw new UntrustedError(WHAT$2, "is of another plan");
	const analyzer = await verified(ANALYZER, list.analyzer, plan);
	const keys = await shufflerKeys(list.keys, plan);
	const shuffler = await Promise.all(list.shuffler.map((entry) => openingOf(entry, plan, keys)));
	if (new Set(shuffler.map(({ round }) => round)).size !== shuffler.length) throw new UntrustedError(WHAT$2, "names two batches for one round");
	if (shuffler.some((entry) => entry.analyzer !== analyzer.key)) throw new UntrustedError(WHAT$2, "shows another key of the analyzer than its round was opened for");
	const onward = await onwardKeys(WHAT$2, list.onward, plan, shuffler);
	const tokens = await issuerKeys(list.tokens, plan);
	return {
		keys,
		openRounds: shuffler.map(shufflerKey),
		onward,
		tokens
	};
}
/** Return the issuer's keys, which must be there exactly if the plan admits by token. */
async function issuerKeys(document, plan) {
	const isThere = document !== void 0;
	if (isThere !== (plan.admission.by === "token")) throw new UntrustedError(WHAT$2, `${isThere ? "has keys of an issuer" : "has no keys of the issuer"}, unlike the plan`);
	return isThere ? tokenKeys(document, plan) : null;
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
function parts(data) {
	return requireShape(WHAT$2, readServed(WHAT$2, data), PARTS$1, {
		onward: Array.isArray,
		tokens: isTable
	});
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
var question, MOST_CHARACTERS, WIRE_VERSION, SHUFFLER, JUDGEMENTS, POLICY, ANALYZER, QUERY, NOT_ACCEPTED, WHAT$2, SECOND, PARTS$1;
var init_key_list = __esmMin((() => {
	init_bytes();
	init_errors();
	init_json();
	init_party_keys();
	init_signed_document();
	init_token_keys();
	question = (value) => typeof value === "string" && value.length > 0 && [...value].length <= MOST_CHARACTERS;
	MOST_CHARACTERS = 4096;
	WIRE_VERSION = 2;
	SHUFFLER = {
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
	JUDGEMENTS = [
		"met",
		"not met",
		"no limit set"
	];
	POLICY = {
		judgement: (value) => JUDGEMENTS.includes(value),
		judged: digits(32),
		despite_policy: (value) => typeof value === "boolean"
	};
	ANALYZER = {
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
	QUERY = {
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
	NOT_ACCEPTED = {
		what: "the refusal",
		purpose: "refusal",
		entries: {
			...COMMON$1,
			kind: exactly$1("not accepted"),
			batch: digits(16),
			sent: digits(32)
		}
	};
	WHAT$2 = "the key list";
	SECOND = "the second shuffler's opening";
	PARTS$1 = {
		schema_version: isWireVersion,
		plan: (value) => typeof value === "string",
		analyzer: isTable,
		keys: isTable,
		shuffler: Array.isArray
	};
}));
// src/protocol/query.ts
init_keystream();
init_bytes();
init_errors();
init_json();
init_key_list();
init_signed_document();
const WHAT$1 = "the round's document";
/**
* Return what a round asks; null if the plan fixes it.
*
* @param rounds The documents of the round from server and mirrors; must be the same bytes.
* @param keys The keys that sign for the shuffler, by the key list.
*/
async function queryOf(plan, rounds, shuffler, keys) {
	if (!plan.asksByQuery) return null;
	const [first, ...others] = rounds;
	if (first === void 0 || others.some((other) => !equal(other, first))) throw new UntrustedError(WHAT$1, "is missing, or not the same on every mirror");
	const document = requireShape(WHAT$1, readServed(WHAT$1, first), {
		schema_version: isWireVersion,
		shuffler: isTable,
		query: isTable
	}, { onward: isTable });
	const opening = await openingOf(document.shuffler, plan, keys);
	const parts = document.onward === void 0 ? void 0 : [document.onward];
	await onwardKeys(WHAT$1, parts, plan, [opening]);
	const own = shufflerKey(opening);
	if (own.round !== shuffler.round || own.batch !== shuffler.batch || own.analyzer !== shuffler.analyzer || own.onward[0] !== shuffler.onward[0] || !equal(own.key, shuffler.key)) throw new UntrustedError(WHAT$1, "is not of the round in the key list");
	const query = await verified(QUERY, document.query, plan);
	if (query.round !== shuffler.round) throw new UntrustedError(QUERY.what, "is of another round");
	return {
		question: String(query.question),
		digest: hex(await sha256(utf8(canonical(query))))
	};
}
// src/protocol/hpke.ts
/**
* Seal a message: the encapsulated key, then the ciphertext with its tag.
*
* @param receiver The receiver's X25519 public key.
* @param ephemeral For tests only: with one key pair, two seals would share their secret.
*/
async function hpkeSeal(plaintext, receiver, info, ephemeral) {
	const { enc, seal } = await hpkeSender(receiver, info, ephemeral);
	return concat(enc, await seal(plaintext));
}
/** Begin a message to a receiver, as `hpkeSeal` does. */
async function hpkeSender(receiver, info, ephemeral) {
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
	const [key, nonce] = await Promise.all([expand(HPKE_SUITE, secret, "key", context, KEY_SIZE$1), expand(HPKE_SUITE, secret, "base_nonce", context, NONCE_SIZE$1)]);
	const cipher = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["encrypt"]);
	return {
		enc,
		seal: async (plaintext) => new Uint8Array(await crypto.subtle.encrypt({
			name: "AES-GCM",
			iv: nonce
		}, cipher, plaintext)),
		exported: async (own, length) => {
			const exporter = await expand(HPKE_SUITE, secret, "exp", context, HASH_SIZE);
			return expand(HPKE_SUITE, exporter, "sec", own, length);
		}
	};
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
var KEM_SUITE, HPKE_SUITE, BASE_MODE, NOTHING, HASH_SIZE, KEY_SIZE$1, NONCE_SIZE$1;
var init_hpke = __esmMin((() => {
	init_bytes();
	KEM_SUITE = concat(utf8("KEM"), fromHex("0020"));
	HPKE_SUITE = concat(utf8("HPKE"), fromHex("002000010001"));
	BASE_MODE = fromHex("00");
	NOTHING = /* @__PURE__ */ new Uint8Array(0);
	HASH_SIZE = 32;
	KEY_SIZE$1 = 16;
	NONCE_SIZE$1 = 12;
}));
// src/protocol/wire.ts
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
	const digest = await listed(epoch, [hex(key), ...after[role]]);
	return concat(...[
		utf8("croupier"),
		bigEndian(VERSION, 1),
		utf8(role),
		digest
	].flatMap((field) => [bigEndian(field.length, 2), field]));
}
/**
* Return the name of the batch, 32 bytes, from which mechanisms derive public functions.
*
* The list names the public keys of everybody after the first shuffler, which draws the batch's 16
* bytes: with two shufflers both have their part in it.
*/
function batchName(epoch) {
	return listed(epoch, [...epoch.onward, epoch.analyzer]);
}
/** Return the digest of the list of plan, batch, round, query and some public keys. */
function listed(epoch, keys) {
	const { batch, plan, query, roundNumber: round } = epoch;
	return sha256(utf8(canonical({
		batch,
		keys,
		plan,
		query,
		round
	})));
}
/** Encode a report, or null, as the bytes that are sealed. */
function encodeReport(format, report, size) {
	const data = new Uint8Array(size);
	data.set([VERSION, report === null ? NULL : DATA]);
	if (report !== null) data.set(format.toBytes(report), HEAD$2);
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
	if (epoch.owned !== (owner !== void 0)) {
		const must = epoch.owned ? "be given: this plan mixes by groups" : "be left out";
		throw new ParameterError("owner", { must });
	}
	if (owner === void 0) return /* @__PURE__ */ new Uint8Array(0);
	if (owner < 0n || owner >= MOST_OWNERS) throw new ParameterError("owner", { must: "be a place in the public file" });
	return bigEndian(owner, OWNER_SIZE);
}
function requireLength(name, data, length) {
	if (data.length !== length) throw new ParameterError(name, { must: `be ${length} bytes` });
}
var VERSION, NULL, DATA, HEAD$2, OWNER_SIZE, MOST_OWNERS, innerLength, handedLength, envelopeLength;
var init_wire = __esmMin((() => {
	init_bytes();
	init_errors();
	init_json();
	init_hpke();
	VERSION = 2;
	NULL = 0;
	DATA = 1;
	HEAD$2 = 2;
	OWNER_SIZE = 8;
	MOST_OWNERS = 1n << 64n;
	innerLength = ({ reportSize }) => reportSize + 48;
	handedLength = (epoch) => innerLength(epoch) + 48 * epoch.onward.length;
	envelopeLength = (epoch) => handedLength(epoch) + (epoch.owned ? OWNER_SIZE : 0) + 48;
}));
// src/numerics/decimal.ts
/** A number as it is written, in units of its last possible place: 100 times 1e-8 is 1e-6. */
function asWritten(value) {
	const [, whole, rest = "", exponent] = /^(\d)\.?(\d*)e(.*)$/.exec(value.toExponential()) ?? [];
	return BigInt(`${whole}${rest}`) * 10n ** BigInt(PLACES - rest.length + Number(exponent));
}
/** The double nearest to the sum of some numbers as they are written: 0.1 and 0.2 are 0.3. */
function decimalSum(values) {
	const sum = values.reduce((total, value) => total + asWritten(value), 0n);
	return Number(`${sum}e-${PLACES}`);
}
var PLACES;
var init_decimal = __esmMin((() => {
	PLACES = 400;
}));
// src/rounding.ts
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
/** Return a rational number just below e^exponent, by less than 2e-50 of it, the same as in Python. */
function expBelow(exponent) {
	const { numerator, denominator } = exponential(exponent);
	return {
		numerator: numerator * (SLACK - 1n),
		denominator: denominator * SLACK
	};
}
/** Return a rational number just above e^exponent, as `expBelow` does below it. */
function expAbove(exponent) {
	const { numerator, denominator } = exponential(exponent);
	return {
		numerator: numerator * (SLACK + 1n),
		denominator: denominator * SLACK
	};
}
/**
* Return the exponential in 60 digits of the exponent in 60 digits.
*
* The sum is exact to some 130 digits, so rounding it to 60 gives the correctly rounded exponential.
*/
function exponential(exponent) {
	const { numerator, denominator } = rounded(exponent);
	const reduced = (numerator << POINT) / (denominator << HALVINGS);
	let term = 1n << POINT;
	let sum = term;
	for (let n = 1n; term !== 0n; n += 1n) {
		term = term * reduced / (n << POINT);
		sum += term;
	}
	for (let n = 0n; n < HALVINGS; n += 1n) sum = sum * sum >> POINT;
	return rounded({
		numerator: sum,
		denominator: 1n << POINT
	});
}
/** Return the nearest number of 60 digits; of two, the even one. */
function rounded({ numerator, denominator }) {
	if (numerator < 0n) {
		const positive = rounded({
			numerator: -numerator,
			denominator
		});
		return {
			...positive,
			numerator: -positive.numerator
		};
	}
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
var DIGITS, SLACK, POINT, HALVINGS, scaled;
var init_rounding = __esmMin((() => {
	DIGITS = 60;
	SLACK = 10n ** 50n;
	POINT = 480n;
	HALVINGS = 12n;
	scaled = (value, shift) => shift > 0 ? value * 10n ** BigInt(shift) : value;
}));
// src/client/client_state.ts
init_wire();
init_errors();
init_decimal();
init_party_keys();
init_signed_document();
init_rounding();
/** Return the entry with the time at which it is due, drawn once. */
function prepared(sealed, now, delay) {
	return isWaiting(sealed) || sealed.is_delivered ? sealed : {
		...sealed,
		due: now + delay,
		delay
	};
}
/** Tell whether a prepared report is left to send. */
function isWaiting(sealed) {
	return typeof sealed?.due === "number";
}
/**
* Return the entry with a due time that the drawn delay allows.
*
* A clock that shows less than when the time was drawn has been set back. The same delay counts
* from now on, so that the report is not held until the clock has caught up.
*/
function onAClockAt(sealed, now) {
	const delay = sealed.delay ?? 0;
	return now < sealed.due - delay ? {
		...sealed,
		due: now + delay
	} : sealed;
}
/** Tables that older memories lack; left out while empty, so that older clients can read on. */
const NEWER = [
	"listed_second",
	"spent_delta",
	"answered",
	"permanent",
	"enrolled",
	"tokens",
	"listed_issuer",
	"gateways"
];
const TABLES = [
	"listed",
	"sealed",
	"joined",
	"resent",
	"spent",
	...NEWER
];
const UNIT = 1n << 1074n;
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
	requireNotBefore(SHUFFLER_KEYS.what, {
		version,
		digest
	}, seen);
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
function charge(state, attribute, cost, budget) {
	if (!leftOf(state, attribute, cost, budget)) throw new BudgetError(attribute, cost.epsilon, budget.epsilon, cost.delta, budget.delta);
	state.spent[attribute] = [...state.spent[attribute] ?? [], cost.epsilon];
	if (cost.delta > 0) state.spent_delta[attribute] = [...state.spent_delta[attribute] ?? [], cost.delta];
}
/**
* Tell whether a cost fits into the budget, beside what was spent for ever and in windows.
*
* @param but The plan whose answers in its window do not count.
*/
function leftOf(state, attribute, { epsilon, delta }, budget, but) {
	const counted = Object.entries(state.answered).filter(([plan]) => plan !== but).flatMap(([, entries]) => entries.filter((entry) => entry.attribute === attribute));
	const costs = [
		...state.spent[attribute] ?? [],
		...counted.map((own) => own.epsilon),
		epsilon
	];
	const chances = [
		...state.spent_delta[attribute] ?? [],
		...counted.map((own) => own.delta),
		delta
	];
	const nats = costs.reduce((sum, entry) => sum + units(entry), 0n);
	const chance = chances.reduce((sum, entry) => sum + asWritten(entry), 0n);
	return nats <= units(budget.epsilon) && (delta === 0 || chance <= asWritten(budget.delta));
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
		...Object.fromEntries(NEWER.map((name) => [name, {}])),
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
// src/protocol/blind_rsa.ts
init_bytes();
init_errors();
const EXPONENT = 65537n;
/** The length of a salt, and of SHA-384. */
const SALT = 48;
const WHAT = "the issuer's signature";
const SMALL = ["the issuer's key", "has small factors"];
/**
* Blind a message for the key of a modulus.
*
* @param given The salt of its encoding and the random number, in test vectors only.
*/
async function blind(modulus, message, given = {}) {
	const { salt = crypto.getRandomValues(new Uint8Array(SALT)), factor = below(modulus) } = given;
	const number = fromBytes(await encodePss(message, bitsOf(modulus) - 1, salt));
	inverseOf(number, modulus);
	return {
		message: bigEndian(number * power(factor, modulus) % modulus, sizeOf(modulus)),
		inverse: inverseOf(factor, modulus)
	};
}
/** Take the blinding off a signature, and return it if it is one of the message. */
async function finalize(modulus, message, blindSignature, inverse) {
	const size = sizeOf(modulus);
	if (blindSignature.length !== size) throw new UntrustedError(WHAT, "has another length than its key");
	const signature = bigEndian(fromBytes(blindSignature) * inverse % modulus, size);
	if (await isSignedBy(modulus, message, signature)) return signature;
	throw new UntrustedError(WHAT, "is not of the key that the plan's issuer published");
}
/** Tell whether a signature, without blinding, is one of the message. */
async function isSignedBy(modulus, message, signature) {
	const jwk = {
		kty: "RSA",
		n: base64url(bigEndian(modulus, sizeOf(modulus))),
		e: "AQAB"
	};
	const scheme = {
		name: "RSA-PSS",
		hash: "SHA-384"
	};
	const key = await crypto.subtle.importKey("jwk", jwk, scheme, false, ["verify"]);
	return crypto.subtle.verify({
		...scheme,
		saltLength: SALT
	}, key, signature, message);
}
/** Return EMSA-PSS of RFC 8017, section 9.1.1, with SHA-384, its MGF1 and 48 bytes of salt. */
async function encodePss(message, bits, salt) {
	const length = Math.ceil(bits / 8);
	const digest = await sha384(concat(/* @__PURE__ */ new Uint8Array(8), await sha384(message), salt));
	const size = length - digest.length - 1;
	const block = concat(new Uint8Array(size - salt.length - 1), Uint8Array.of(1), salt);
	const mask = await maskOf(digest, size);
	const masked = block.map((byte, place) => byte ^ mask[place]);
	masked[0] = masked[0] & 255 >> 8 * length - bits;
	return concat(masked, digest, Uint8Array.of(188));
}
/** Return MGF1 of RFC 8017, appendix B.2.1. */
async function maskOf(seed, length) {
	const blocks = Array.from({ length: Math.ceil(length / SALT) }, (_, number) => sha384(concat(seed, bigEndian(number, 4))));
	return concat(...await Promise.all(blocks)).slice(0, length);
}
async function sha384(data) {
	return new Uint8Array(await crypto.subtle.digest("SHA-384", data));
}
/** Return a number to the power of the public exponent: 16 squares, and once the number. */
function power(base, modulus) {
	let result = base % modulus;
	for (let left = EXPONENT >> 1n; left > 0n; left >>= 1n) result = result * result % modulus;
	return result * base % modulus;
}
/** Return the inverse of a number, by the extended algorithm of Euclid. */
function inverseOf(number, modulus) {
	let [rest, next, own, following] = [
		modulus,
		number % modulus,
		0n,
		1n
	];
	while (next > 0n) {
		const times = rest / next;
		[rest, next] = [next, rest - times * next];
		[own, following] = [following, own - times * following];
	}
	if (rest !== 1n) throw new UntrustedError(...SMALL);
	return own < 0n ? own + modulus : own;
}
/** Draw a uniform number from 1 to below the modulus. */
function below(modulus) {
	for (;;) {
		const drawn = fromBytes(crypto.getRandomValues(new Uint8Array(sizeOf(modulus))));
		if (drawn > 0n && drawn < modulus) return drawn;
	}
}
const bitsOf = (modulus) => modulus.toString(2).length;
const sizeOf = (modulus) => Math.ceil(bitsOf(modulus) / 8);
function fromBytes(data) {
	return BigInt(`0x${hex(data)}`);
}
/** Return bytes in the alphabet of URLs, without padding. */
function base64url(data) {
	return btoa(String.fromCharCode(...data)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
// src/protocol/token.ts
init_bytes();
const TYPE = bigEndian(2, 2);
/** PKCS #8 of an Ed25519 key, before its seed. */
const PRIVATE = "302e020100300506032b657004220420";
/** Return the digest of the challenge that tokens of a round answer (RFC 9577, section 2.1). */
async function challenge({ digest, admission }, round) {
	const issuer = String(admission.key);
	const name = utf8(`${issuer.slice(0, 32)}.${issuer.slice(32)}.issuer.invalid`);
	const context = await sha256(concat(utf8("croupier token\0"), fromHex(digest), bigEndian(round, 4)));
	const lengths = [bigEndian(name.length, 2), bigEndian(context.length, 1)];
	return sha256(concat(TYPE, lengths[0], name, lengths[1], context, /* @__PURE__ */ new Uint8Array(2)));
}
/** Return the part of a token that the issuer signs. */
function tokenInput(nonce, answered, keyId) {
	return concat(TYPE, nonce, answered, keyId);
}
/** Return the request for a token, which has one length and says nothing about it. */
function tokenRequest(blinded, keyId) {
	return concat(TYPE, keyId.slice(-1), blinded);
}
/** Return the header that spends a token (RFC 9577, section 2.2): no length needs padding. */
function tokenHeader(input, signature) {
	return `PrivateToken token="${base64url(concat(input, signature))}"`;
}
/** The one-time key of a token. */
var Spender = class Spender {
	key;
	open;
	nonce;
	constructor(key, open, nonce) {
		this.key = key;
		this.open = open;
		this.nonce = nonce;
	}
	/** Return the key of a seed, 32 random bytes. */
	static async of(seed) {
		const pkcs8 = concat(fromHex(PRIVATE), seed);
		const key = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", true, ["sign"]);
		const { x } = await crypto.subtle.exportKey("jwk", key);
		const text = atob(String(x).replaceAll("-", "+").replaceAll("_", "/"));
		const open = Uint8Array.from(text, (character) => character.charCodeAt(0));
		return new Spender(key, open, await sha256(open));
	}
	/** Return the public key, and its signature of what the token is spent on, in hexadecimal. */
	async proof(plan, batch, body) {
		const message = concat(utf8("croupier spend\0"), fromHex(plan), fromHex(batch), await sha256(body));
		const signature = await crypto.subtle.sign("Ed25519", this.key, message);
		return hex(concat(this.open, new Uint8Array(signature)));
	}
};
// src/client/tokens.ts
init_bytes();
init_errors();
init_signed_document();
init_token_keys();
/** Remember a list of the issuer's keys, and forget the tokens of rounds before all open ones. */
function followIssuer(state, plan, { version, digest }, openRounds) {
	requireNotBefore(TOKEN_KEYS.what, {
		version,
		digest
	}, state.listed_issuer[plan.digest]);
	state.listed_issuer[plan.digest] = {
		version,
		digest
	};
	const sealed = state.sealed[plan.digest];
	const waiting = isWaiting(sealed) ? sealed.round : null;
	const oldest = openRounds.length === 0 ? 0 : Math.min(...openRounds);
	for (const place of Object.keys(state.tokens)) {
		const [digits, number] = place.split("/");
		const hasPassed = Number(number) < oldest && Number(number) !== waiting;
		if (digits === plan.digest && hasPassed) delete state.tokens[place];
	}
}
/** Return the entry of a round's token; made once, with a one-time key of its own. */
async function begin(state, plan, key, round) {
	const place = placeOf(plan, round);
	let held = state.tokens[place];
	if (held === void 0) {
		const seed = crypto.getRandomValues(/* @__PURE__ */ new Uint8Array(32));
		const { input } = await given(plan, round, key.id, seed);
		const { message, inverse } = await blind(key.modulus, input);
		held = {
			key_id: hex(key.id),
			seed: hex(seed),
			request: hex(tokenRequest(message, key.id)),
			inverse: inverse.toString(16)
		};
		state.tokens[place] = held;
	}
	requireSameKey(held, key);
	return held;
}
/** Take the blinding off the issuer's answer, and hold the token if its signature is right. */
async function finish(state, plan, key, round, answer) {
	const { key_id, seed, inverse } = await begin(state, plan, key, round);
	if (inverse == null) return;
	const { input } = await given(plan, round, key.id, fromHex(seed));
	const signature = await finalize(key.modulus, input, answer, BigInt(`0x${inverse}`));
	state.tokens[placeOf(plan, round)] = {
		key_id,
		seed,
		signature: hex(signature)
	};
}
/** Refuse to go on without a token that the key list's key of the round signed. */
async function requireToken(state, plan, keys, round) {
	if (keys === null) return;
	const held = state.tokens[placeOf(plan, round)];
	const key = await tokenKeyOf(keys, round);
	if (held?.signature == null || key === null) throw new NoTokenError(round);
	requireSameKey(held, key);
}
/** Return the headers that spend a round's token on a request; null if there is no token. */
async function spentOn(state, plan, { round, batch }, body) {
	const held = state.tokens[placeOf(plan, round)];
	if (held?.signature == null) return null;
	const { spender, input } = await given(plan, round, fromHex(held.key_id), fromHex(held.seed));
	return {
		authorization: tokenHeader(input, fromHex(held.signature)),
		proof: await spender.proof(plan.digest, batch, body)
	};
}
const placeOf = (plan, round) => `${plan.digest}/${round}`;
function requireSameKey({ key_id }, { id }) {
	if (key_id !== hex(id)) throw new UntrustedError("the issuer's key of the round", "was replaced");
}
async function given(plan, round, keyId, seed) {
	const spender = await Spender.of(seed);
	return {
		spender,
		input: tokenInput(spender.nonce, await challenge(plan, round), keyId)
	};
}
// src/numerics/weighted.ts
/** Draws by lot with weights. */
/** Return the index that a draw below the sum of the weights picks. */
function weighted(weights, draw) {
	let end = 0n;
	return weights.findIndex((weight) => {
		end += weight;
		return draw < end;
	});
}
var init_weighted = __esmMin((() => {}));
// src/client/turn.ts
init_errors();
init_weighted();
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
		const drawn = () => Number(integer(BigInt(bins.length), rng));
		const chosen = group === void 0 ? drawn() : required(group, bins.length);
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
// src/client/window.ts
/** Count one more answer in the plan's window; return false if it or the budget allows none. */
function joins(state, plan, attribute, budget, now) {
	const { digest, cost, window: length = 0, keepsAnswer } = plan;
	passTime(state, plan, now);
	let own = state.answered[digest] ?? [];
	const but = keepsAnswer ? digest : void 0;
	if (own.length >= plan.reports) return false;
	if (own.length > 0 && !keepsAnswer) {
		own = own.map((entry) => ({
			...entry,
			...cost
		}));
		state.answered[digest] = own;
	}
	if (!leftOf(state, attribute, cost, budget, but)) return false;
	const isCovered = (entry) => keepsAnswer && entry.attribute === attribute;
	const earlier = own.map((entry) => isCovered(entry) ? {
		...entry,
		epsilon: 0,
		delta: 0
	} : entry);
	const made = {
		attribute,
		...cost,
		at: now.clock,
		length,
		rounds: { [digest]: now.round }
	};
	state.answered[digest] = [...earlier, made];
	return true;
}
/** Forget the answers of this plan that have left their window, and the costs of others'. */
function passTime(state, { digest, roundLength }, { round, clock }) {
	const hasLeft = ({ at, length, rounds }) => {
		return (round - rounds[digest]) * roundLength >= length && clock - at >= length - roundLength;
	};
	for (const [plan, entries] of Object.entries(state.answered)) {
		const left = entries.map((entry) => ({
			...entry,
			at: Math.min(entry.at, clock),
			rounds: {
				[digest]: round,
				...entry.rounds
			}
		})).filter((entry) => plan !== digest || !hasLeft(entry)).map((entry) => hasLeft(entry) ? {
			...entry,
			epsilon: 0,
			delta: 0
		} : entry);
		if (left.length > 0) state.answered[plan] = left;
		else delete state.answered[plan];
	}
}
/**
* Count the latest answer from now on: it is sealed again, for a later round.
*
* Return false if no answer counts any more, so that it must not be sealed again.
*/
function moved(state, { digest }, { round, clock }) {
	const earlier = [...state.answered[digest] ?? []];
	const last = earlier.pop();
	if (last === void 0 || last.epsilon === 0) return false;
	const own = {
		...last,
		at: Math.max(last.at, clock),
		rounds: { [digest]: round }
	};
	state.answered[digest] = [...earlier, own];
	return true;
}
// src/client/client.ts
init_bytes();
init_errors();
init_keystream();
init_key_list();
init_party_keys();
init_signed_document();
/** Bits of a double's fraction: a uniform time needs no more of a word. */
const FRACTION = 53n;
/** One person's side of a plan. */
var Client = class {
	plan;
	#choices;
	#budget;
	#spread;
	#rng;
	clock;
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
		this.clock = choices.clock ?? (() => Date.now() / 1e3);
	}
	/**
	* Return what to send in the open round; null if it is not this person's turn.
	*
	* The first call of a round randomises and seals. Every later call returns the same bytes,
	* whatever the value is by then. If the plan has a window, it is nobody's turn who has given as
	* many answers in it as the plan or the budget allows, until it has moved on. "No answer" must be a category of the plan. Throws a NoTokenError
	* if the plan admits by token and the memory holds none for the round.
	*
	* @param value The person's value; if rounds ask by query, also a function that takes the
	*   question and returns the value, in far less time than `spread`: a report waits for the rest
	*   of its delay, and one whose value took longer is late.
	*/
	async report(value, served) {
		const [now, delay, { isPrepared = false }] = [
			this.clock(),
			this.#delay(),
			served
		];
		const { shuffler, keys, batches, tokens } = await this.#trusted(served);
		const query = await queryOf(this.plan, served.rounds ?? [], shuffler, keys);
		const submission = await this.#update(async (state, sealed) => {
			const waits = isPrepared && isWaiting(sealed);
			if (waits && batches.includes(sealed.batch)) {
				await requireToken(state, this.plan, tokens, sealed.round);
				return this.#keep(state, onAClockAt(sealed, now), delay);
			}
			if (sealed !== void 0 && shuffler.round < sealed.round) throw new UntrustedError("the key list", "offers a round that has passed");
			await requireToken(state, this.plan, tokens, shuffler.round);
			if (shuffler.round === sealed?.round) return this.#keep(state, isPrepared ? prepared(sealed, now, delay) : sealed, delay);
			const answer = query === null ? value : await answered(value, query);
			this.#requireValue(answer, shuffler.round);
			const turn = this.#turn(state, shuffler.round);
			const position = shuffler.round % roundsOfACollection(this.plan);
			if (turn === null || position < turn.first || position > turn.last) return null;
			const asked = query?.digest ?? "";
			const report = position === turn.answers ? await this.#randomised(state, answer, shuffler, asked) : encodeReport(this.#format(shuffler.round), null, this.plan.reportSize);
			const kept = {
				batch: shuffler.batch,
				report,
				query: asked
			};
			const made = await this.#seal(state, kept, shuffler, delay, isPrepared ? now : null);
			return waits ? {
				...made,
				isReplacing: true
			} : made;
		});
		const passed = Math.max(0, this.clock() - now);
		return submission && {
			...submission,
			delay: Math.max(0, delay - passed)
		};
	}
	/**
	* Return the prepared report that was not delivered yet; null if there is nothing to send.
	*
	* Its `delay` is the number of seconds that are left. If the clock was set back since it was
	* prepared, the drawn delay counts from now on.
	*/
	waiting() {
		return this.#update(async (state, sealed) => {
			if (!isWaiting(sealed)) return null;
			const now = this.clock();
			const moved = onAClockAt(sealed, now);
			return this.#keep(state, moved, Math.max(0, moved.due - now));
		});
	}
	/** Return the seconds until the prepared report is to be sent; null if there is none. */
	async due() {
		return (await this.waiting())?.delay ?? null;
	}
	/** Leave nothing of a prepared report to send: it was accepted, or never can be. */
	settle({ batch }, isDelivered) {
		return this.#update(async (state, sealed) => {
			if (sealed?.batch !== batch) return;
			const { due, delay, is_delivered, ...kept } = sealed;
			state.sealed[this.plan.digest] = isDelivered ? {
				...kept,
				is_delivered: true
			} : kept;
		});
	}
	/** Return the memory, which keeps the credential of an issuer as well. */
	get memory() {
		return this.#choices.memory;
	}
	/** Return the round that `report` would answer. */
	async chosenRound(served) {
		return (await this.#trusted(served)).shuffler.round;
	}
	/**
	* Seal the same report for another batch, after the shuffler signed that it refused it.
	*
	* Return null if no other batch asks the same, the report means nothing in another one or is no
	* longer known, or there is no token for the other batch's round: then the round is lost. So it is
	* with two shufflers: the first one alone may have signed the refusal and handed the report on all
	* the same, and the second one would see it in two batches.
	*/
	async reseal({ submission, refusal, authorization }, { keyLists }) {
		const { what } = NOT_ACCEPTED;
		const { keys } = await this.followed(keyLists);
		const signers = signersOf("intake", submission.roundNumber, this.plan, keys);
		const refused = await verified(NOT_ACCEPTED, readDocument(what, refusal), this.plan, signers);
		if (refused.batch !== submission.batch) throw new UntrustedError(what, "is about another batch");
		if (refused.sent !== await sentDigest(authorization, submission.body)) throw new UntrustedError(what, "is not about the request that was sent");
		if (this.plan.shufflerKeys.length > 1) return null;
		const { shuffler, tokens } = await this.#trusted({ keyLists });
		const kept = this.#kept;
		if (kept?.batch !== submission.batch || !this.#asksTheSame(shuffler, submission)) return null;
		return this.#update(async (state, sealed) => {
			if (sealed?.batch !== submission.batch) return null;
			try {
				await requireToken(state, this.plan, tokens, shuffler.round);
			} catch (error) {
				if (error instanceof NoTokenError) return null;
				throw error;
			}
			if (this.plan.window !== void 0 && shuffler.round > sealed.round && !moved(state, this.plan, this.#moment(shuffler.round))) return null;
			const now = isWaiting(sealed) ? this.clock() : null;
			const next = {
				...kept,
				batch: shuffler.batch
			};
			const again = await this.#seal(state, next, shuffler, this.#delay(), now);
			if (now !== null) this.#kept = void 0;
			return again;
		});
	}
	/** Use the memory, and what is sealed for the plan. */
	#update(use) {
		return this.#choices.memory.update((state) => use(state, state.sealed[this.plan.digest]));
	}
	#asksTheSame(shuffler, { batch, roundNumber }) {
		if (shuffler.batch === batch || shuffler.round < roundNumber) return false;
		if (this.plan.question(roundNumber).variesByBatch) return false;
		return shuffler.round === roundNumber || this.plan.everybodyAnswers;
	}
	/** Return the signed opening of the answered round, and who signs for the shuffler. */
	async #trusted({ keyLists, roundNumber }) {
		const { keys, openRounds, onward, tokens } = await this.followed(keyLists);
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
			keys,
			batches: openRounds.map(({ batch }) => batch),
			tokens
		};
	}
	/** Return the checked key list, the same on every mirror, and the newest round seen in one. */
	async followed(keyLists) {
		const [first, ...mirrors] = keyLists;
		if (first === void 0 || mirrors.some((mirror) => !equal(mirror, first))) throw new UntrustedError("the key list", "is not the same on every mirror");
		const read = await readKeyList(first, this.plan);
		const rounds = read.openRounds.map(({ round }) => round);
		return {
			...read,
			newest: await this.#follow(read.keys, rounds, read.tokens)
		};
	}
	/** Remember the lists, or neither if one is refused. */
	#follow(keys, rounds, tokens = null) {
		return this.memory.update(async (state) => {
			const newest = follow(state, this.plan.digest, keys, rounds);
			if (tokens !== null) followIssuer(state, this.plan, tokens, rounds);
			return newest;
		});
	}
	/**
	* Return the turn of the collection; drawn, and paid for, when it is joined.
	*
	* Return null if the plan's window allows no answer in the round.
	*/
	#turn(state, roundNumber) {
		const { plan } = this;
		const collection = Math.floor(roundNumber / roundsOfACollection(plan));
		const joined = state.joined[plan.digest];
		if (joined?.collection === collection) return joined;
		if (joined !== void 0 && joined.collection > collection) throw new UntrustedError("the key list", "offers a round that has passed");
		const times = 1 + (joined?.times ?? 0);
		if (plan.window === void 0) this.#joinForEver(state, roundNumber, times);
		else {
			const { attribute } = this.#choices;
			const now = this.#moment(roundNumber);
			if (!joins(state, plan, attribute, this.#budget, now)) return null;
		}
		const turn = drawTurn(plan, this.#choices.group, this.#rng);
		state.joined[plan.digest] = {
			collection,
			times,
			...turn
		};
		return turn;
	}
	/** Pay for a collection of a plan without a window, and refuse one too many. */
	#joinForEver(state, roundNumber, times) {
		const { plan } = this;
		if (times > plan.reports) throw new ParameterError("roundNumber", {
			must: `be one of the ${plan.reports} rounds that a person may join`,
			hint: "Stay away; collection.rounds of the plan is used up."
		});
		passTime(state, plan, this.#moment(roundNumber));
		const comesAgain = plan.noise === "reused" || plan.keepsAnswer;
		if (times === 1 || plan.cost.delta > 0 || !comesAgain) charge(state, this.#choices.attribute, plan.cost, this.#budget);
	}
	#moment(round) {
		return {
			round,
			clock: this.clock()
		};
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
	async #randomised(state, value, shuffler, query) {
		const { round: roundNumber } = shuffler;
		const place = `${this.plan.digest}/${this.plan.questionIndex(roundNumber)}`;
		const before = state.resent[place];
		if (before !== void 0) return fromHex(before);
		const batch = await batchName(epochOf(this.plan, shuffler, query));
		const question = this.plan.question(roundNumber);
		const report = question.permanent === void 0 ? await question.randomize(value, this.#rng, batch) : this.#fromPermanent(state, place, value, question.permanent);
		const data = encodeReport(this.#format(roundNumber), report, this.plan.reportSize);
		if (this.plan.noise === "reused") state.resent[place] = hex(data);
		return data;
	}
	/** Return a report made from the permanent answer, which is drawn first if there is none. */
	#fromPermanent(state, place, value, permanent) {
		const kept = state.permanent[place] ?? permanent.draw(value, this.#rng);
		state.permanent[place] = kept;
		return permanent.report(kept, this.#rng);
	}
	#format(roundNumber) {
		return this.plan.question(roundNumber).reportFormat;
	}
	/** Seal a report and remember it, with the time at which it is due if it was prepared. */
	async #seal(state, kept, shuffler, delay, now) {
		const epoch = epochOf(this.plan, shuffler, kept.query);
		const body = await sealReport(kept.report, shuffler.key, epoch, this.#choices.owner);
		const sealed = {
			round: shuffler.round,
			batch: shuffler.batch,
			body: hex(body)
		};
		this.#kept = kept;
		return this.#keep(state, now === null ? sealed : prepared(sealed, now, delay), delay);
	}
	/** Remember sealed bytes and return them as they are sent. */
	async #keep(state, sealed, delay) {
		state.sealed[this.plan.digest] = sealed;
		const [{ round: roundNumber, batch }, body] = [sealed, fromHex(sealed.body)];
		const spent = await spentOn(state, this.plan, sealed, body);
		const sent = {
			plan: this.plan.digest,
			roundNumber,
			batch,
			body,
			delay,
			spent
		};
		return isWaiting(sealed) ? {
			...sent,
			due: sealed.due
		} : sent;
	}
	/** Draw the seconds to wait before a token is fetched, which depend on nothing else. */
	tokenDelay() {
		return this.#delay();
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
// src/table.ts
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
function number$1(name, value) {
	if (typeof value !== "number" || !Number.isFinite(value)) throw new ParameterError(name, { must: "be a number" });
	return value;
}
var init_table = __esmMin((() => {
	init_errors();
	init_json();
}));
// src/dummies.ts
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
	const given = number$1(name, value);
	if (given >= least && given <= most) return given;
	throw new ParameterError(name, { must: `be in [${least}, ${most}]` });
}
var init_dummies = __esmMin((() => {
	init_errors();
	init_table();
}));
// src/participation.ts
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
	if (model === "together" && questions > 1) return {
		model,
		rounds: questions,
		padded: false,
		adaptive: false,
		bins: [[1n]]
	};
	const bins = own === "bins" ? list("bins", given).map(weightsOf$1) : [weightsOf$1(given)];
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
function weightsOf$1(given) {
	if (!Array.isArray(given)) return Array(count("participation", given, 1, MOST_ROUNDS)).fill(1n);
	const weights = given.map((weight) => wholeNumber("weights", weight, 1n, MOST_WEIGHT));
	if (weights.reduce((sum, weight) => sum + weight, 0n) > MOST_WEIGHT) throw new ParameterError("weights", { must: `sum to at most ${MOST_WEIGHT}` });
	return weights;
}
var MODELS, OWN, ADAPTIVE, MOST_ROUNDS, MOST_WEIGHT;
var init_participation = __esmMin((() => {
	init_errors();
	init_table();
	MODELS = [
		"single",
		"divide",
		"subsample",
		"parallel",
		"together",
		"multinomial",
		"bins",
		"rectified-parallel",
		"rectified-multinomial",
		"rectified-bins"
	];
	OWN = {
		divide: "groups",
		subsample: "repeats",
		parallel: "weights",
		multinomial: "weights",
		bins: "bins"
	};
	ADAPTIVE = [
		"divide",
		"subsample",
		"multinomial",
		"bins"
	];
	MOST_ROUNDS = 1e5;
	MOST_WEIGHT = 1n << 62n;
}));
// src/words.ts
/** Return a text of at most so many characters, if it is given. */
function words$1(name, value, most) {
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
var HIDDEN, BLANK, JOINERS, ONE_LINE, NAME, LONGEST_NAME;
var init_words = __esmMin((() => {
	init_errors();
	HIDDEN = String.raw`\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}\ud800-\udfff`;
	BLANK = String.raw` \u00a0\u115f\u1160\u1680\u180e\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\uffa0`;
	JOINERS = String.raw`\u034f\u200c\u200d\ufe00-\ufe0f\u{e0100}-\u{e01ef}`;
	ONE_LINE = new RegExp(`^[^${HIDDEN}${BLANK}${JOINERS}](?:[^${HIDDEN}]*[^${HIDDEN}${BLANK}])?$`, "u");
	NAME = /^[a-z0-9]+(?:[_-][a-z0-9]+)*$/;
	LONGEST_NAME = 64;
}));
// src/domain.ts
/** Return a label in its lookup form: a text, or a whole number of either type. */
function name(label) {
	return typeof label === "string" ? label : whole(label);
}
function whole(value) {
	if (typeof value === "bigint") return value;
	if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
	throw new DataError("The value is neither a whole number nor a text. Map it to a category.");
}
/** Return the nearest whole number; of two, the even one, as in IEEE 754. */
function halfEven(value) {
	const floor = Math.floor(value);
	const rest = value - floor;
	if (rest === .5) return floor % 2 === 0 ? floor : floor + 1;
	return rest < .5 ? floor : floor + 1;
}
var MOST_CATEGORIES$1, MOST_STEPS$1, Categories, Grid, Product;
var init_domain = __esmMin((() => {
	init_errors();
	init_keystream();
	init_table();
	init_words();
	MOST_CATEGORIES$1 = 2 ** 40;
	MOST_STEPS$1 = 1e6;
	Categories = class Categories {
		size;
		#places;
		constructor(size, places) {
			this.size = size;
			this.#places = places;
		}
		static of({ k, labels }) {
			if (k === void 0 === (labels === void 0)) throw new ParameterError("k", { must: "be given, or `labels`, not both" });
			if (labels === void 0) return new Categories(count("k", k, 2, MOST_CATEGORIES$1));
			const names = list("labels", labels).map((label) => typeof label === "string" ? label : wholeNumber("labels", label, -WORD, WORD));
			if (names.some((label) => typeof label === "string" && !isOneLine(label))) throw new ParameterError("labels", { must: "be texts on one line, or whole numbers" });
			const places = new Map(names.map((label, place) => [label, place]));
			if (places.size < 2 || places.size !== names.length) throw new ParameterError("labels", { must: "be at least two, all different" });
			return new Categories(places.size, places);
		}
		/** The labels in their order, or 0, 1, …, k - 1. */
		labels() {
			return this.#places?.keys() ?? Array(this.size).keys();
		}
		encode(value) {
			const index = this.#places === void 0 ? Number(whole(value)) : this.#places.get(name(value));
			if (index === void 0 || !(index >= 0 && index < this.size)) throw new DataError(`The value is not among the ${this.size} categories. Map it to one.`);
			return index;
		}
	};
	Grid = class Grid {
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
			].map((e) => number$1("grid", e));
			const steps = (high - low) / step;
			const uneven = Math.abs(steps - halfEven(steps)) > 1e-9 * steps;
			if (!(step > 0 && steps > .5 && steps <= MOST_STEPS$1) || uneven) throw new ParameterError("grid", { must: "be divided evenly by a positive step" });
			return new Grid(low, step, halfEven(steps) + 1);
		}
		encode(value) {
			const position = typeof value === "number" ? halfEven((value - this.#low) / this.#step) : NaN;
			if (Number.isNaN(position)) throw new DataError("The value is missing, or is not a number.");
			return Math.min(Math.max(position, 0), this.size - 1);
		}
	};
	Product = class {
		parts;
		width;
		constructor(parts) {
			this.parts = parts;
			this.width = parts.reduce((sum, part) => sum + (part.width ?? 1), 0);
		}
		encode(value) {
			if (!Array.isArray(value) || value.length !== this.width) throw new DataError(`The value must be a list of ${this.width} answers.`);
			let end = 0;
			return this.parts.map(({ width }, place) => {
				const start = end;
				end += width ?? 1;
				const own = width === void 0 ? value[start] : value.slice(start, end);
				return this.parts[place].encode(own);
			});
		}
	};
}));
// src/randomizer.ts
var Randomizer;
var init_randomizer = __esmMin((() => {
	init_keystream();
	Randomizer = class {
		/** The number of possible reports, if dummies can be made of them. */
		alphabetSize = void 0;
		/** The way to a permanent answer, if all reports of a person are made from one. */
		permanent = void 0;
		/** True if what a report means depends on the batch that it is for. */
		variesByBatch = false;
		/** The nats that a report costs, or all reports together if they are made from one answer. */
		get budgetCost() {
			return this.maxEpsilonLocal;
		}
		/** Randomise a value for a batch; the hashes of the platform are asynchronous. */
		async randomize(value, rng, batch) {
			return this.respond(this.domain.encode(value), draw(this.drawBounds, rng), batch);
		}
	};
}));
// src/report.ts
var BITS_A_BYTE, ReportFormat;
var init_report = __esmMin((() => {
	init_errors();
	BITS_A_BYTE = 8;
	ReportFormat = class {
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
}));
// src/randomizers/calibrated.ts
function maxEpsilonOf(own, name = "max_epsilon_local") {
	const epsilon = number$1(name, own[name]);
	if (epsilon > 0 && epsilon <= LARGEST_EPSILON) return epsilon;
	throw new ParameterError(name, { must: "be in (0, 20]" });
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
var COMMON, LARGEST_EPSILON;
var init_calibrated = __esmMin((() => {
	init_errors();
	init_keystream();
	init_rounding();
	init_table();
	COMMON = [
		"mechanism",
		"max_epsilon_local",
		"denominator"
	];
	LARGEST_EPSILON = 20;
}));
// src/randomizers/k_rr.ts
/** Randomise an index below k with one draw. */
function karyResponse(index, draw, blanket, k) {
	const answer = draw / blanket;
	return answer < k ? answer : index;
}
var KaryRandomizedResponse;
var init_k_rr = __esmMin((() => {
	init_domain();
	init_randomizer();
	init_report();
	init_table();
	init_calibrated();
	KaryRandomizedResponse = class extends Randomizer {
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
}));
// src/randomizers/plain.ts
var Plain;
var init_plain = __esmMin((() => {
	init_domain();
	init_randomizer();
	init_report();
	init_table();
	Plain = class extends Randomizer {
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
}));
// src/randomizers/memoised.ts
var memoised_exports = /* @__PURE__ */ __exportAll({ MemoisedResponse: () => MemoisedResponse });
/** Return b1 of the permanent answer, and b2 of what each report adds to it. */
function weightsOf(denominator, k, epsilon, permanent) {
	const lie = blanketWeight(denominator, permanent, k);
	const { numerator: n, denominator: d } = expBelow(exactly(epsilon));
	const gap = (denominator - (k - 1n) * lie) * d - n * lie;
	const least = (n - d) * denominator + k * gap;
	const noise = gap > 0n ? ceilingOf(denominator * gap, least) : 0n;
	if (noise > 0n && k * noise < denominator) return [lie, noise];
	throw new ParameterError("denominator", {
		must: "be large enough for the categories and these epsilons",
		hint: "Leave it out."
	});
}
var MemoisedResponse;
var init_memoised = __esmMin((() => {
	init_domain();
	init_errors();
	init_keystream();
	init_randomizer();
	init_report();
	init_rounding();
	init_table();
	init_calibrated();
	init_k_rr();
	MemoisedResponse = class extends Randomizer {
		maxEpsilonLocal;
		domain;
		drawBounds;
		reportFormat;
		permanent;
		/** The weights of an untrue permanent answer, and of a report that is not the permanent answer. */
		blankets;
		#maxEpsilonPermanent;
		#k;
		constructor(specification) {
			super();
			const own = table("memoised-k-rr", specification, [
				...COMMON,
				"k",
				"labels",
				"max_epsilon_permanent"
			]);
			this.maxEpsilonLocal = maxEpsilonOf(own);
			this.#maxEpsilonPermanent = maxEpsilonOf(own, "max_epsilon_permanent");
			if (this.#maxEpsilonPermanent <= this.maxEpsilonLocal) throw new ParameterError("max_epsilon_permanent", { must: "be above max_epsilon_local" });
			this.domain = Categories.of(own);
			this.#k = BigInt(this.domain.size);
			const denominator = denominatorOf(own);
			this.blankets = weightsOf(denominator, this.#k, this.maxEpsilonLocal, this.#maxEpsilonPermanent);
			this.drawBounds = [denominator, denominator];
			this.reportFormat = new ReportFormat([this.#k]);
			const once = (index, place, drawn) => karyResponse(BigInt(index), drawn, this.blankets[place], this.#k);
			const one = [denominator];
			this.permanent = {
				draw: (value, rng) => Number(once(this.domain.encode(value), 0, draw(one, rng)[0])),
				report: (kept, rng) => [once(kept, 1, draw(one, rng)[0])]
			};
		}
		get budgetCost() {
			return this.#maxEpsilonPermanent;
		}
		/** Return the first report of a person. */
		respond(index, draws) {
			return [this.blankets.reduce((answer, blanket, place) => karyResponse(answer, draws[place], blanket, this.#k), BigInt(index))];
		}
	};
}));
// src/numerics/independence.ts
/**
* Tell whether rows, each given by the places of its ones, are independent as rationals.
*
* Rows that are independent modulo 2 have an odd minor, which is not zero. Otherwise, as for the
* three sides of a triangle, the rationals decide.
*/
function areIndependent(rows) {
	return moduloTwo(rows) || rationally(rows);
}
function moduloTwo(rows) {
	const pivots = /* @__PURE__ */ new Map();
	return rows.every((row) => {
		const rest = new Set(row);
		for (let least = first(rest); least !== void 0; least = first(rest)) {
			const pivot = pivots.get(least);
			if (pivot === void 0) {
				pivots.set(least, rest);
				return true;
			}
			for (const place of pivot) if (!rest.delete(place)) rest.add(place);
		}
		return false;
	});
}
function rationally(rows) {
	const pivots = /* @__PURE__ */ new Map();
	return rows.every((row) => {
		let rest = new Map(Array.from(row, (place) => [place, 1n]));
		for (let least = first(rest.keys()); least !== void 0; least = first(rest.keys())) {
			const pivot = pivots.get(least);
			if (pivot === void 0) {
				pivots.set(least, rest);
				return true;
			}
			rest = eliminated(rest, pivot, least);
		}
		return false;
	});
}
/** Return a multiple of a row less one of a pivot, such that a place becomes zero. */
function eliminated(row, pivot, place) {
	const [own, other] = [row.get(place), pivot.get(place)];
	const made = /* @__PURE__ */ new Map();
	for (const at of /* @__PURE__ */ new Set([...row.keys(), ...pivot.keys()])) {
		const entry = (row.get(at) ?? 0n) * other - (pivot.get(at) ?? 0n) * own;
		if (entry !== 0n) made.set(at, entry);
	}
	const shared = [...made.values()].reduce(divisor, 0n);
	return new Map(Array.from(made, ([at, entry]) => [at, entry / shared]));
}
/** Return the greatest common divisor, up to its sign. */
function divisor(one, other) {
	return other === 0n ? one : divisor(other, one % other);
}
function first(places) {
	let least;
	for (const place of places) if (least === void 0 || place < least) least = place;
	return least;
}
var init_independence = __esmMin((() => {}));
// src/randomizers/quoted.ts
/**
* Return a label as it enters a hash: a whole number in digits, a text in quotes.
*
* Signs that cannot be printed are escaped. Whether one can be depends on the version of Unicode
* only for characters that it does not assign yet, which are refused.
*/
function quoted(label) {
	if (typeof label !== "string") return String(label);
	if (/\p{Cn}/u.test(label)) throw new ParameterError("labels", { must: "have characters that Unicode assigns" });
	const quote = label.includes("'") && !label.includes("\"") ? "\"" : "'";
	return quote + Array.from(label, (sign) => {
		if (sign === quote || sign === "\\") return `\\${sign}`;
		return sign !== " " && /[\p{C}\p{Z}]/u.test(sign) ? escaped(sign) : sign;
	}).join("") + quote;
}
function escaped(sign) {
	const point = sign.codePointAt(0);
	const digits = (size) => point.toString(16).padStart(size, "0");
	if (point < 256) return `\\x${digits(2)}`;
	return point < 65536 ? `\\u${digits(4)}` : `\\U${digits(8)}`;
}
var init_quoted = __esmMin((() => {
	init_errors();
}));
// src/randomizers/bloom_filter.ts
/** Return the hashes of every category, as whole numbers of 256 bits. */
function hashesOf(labels, hashes) {
	const hash = async (text) => BigInt(`0x${hex(await sha256(concat(PREFIX, utf8(text))))}`);
	const own = (label) => {
		const name = quoted(label);
		return Promise.all(Array.from({ length: hashes }, (_, place) => hash(`${place} ${name}`)));
	};
	return Promise.all(Array.from(labels, own));
}
var PREFIX, BloomFilters;
var init_bloom_filter = __esmMin((() => {
	init_bytes();
	init_independence();
	init_quoted();
	PREFIX = utf8("croupier rappor v1");
	BloomFilters = class {
		bits;
		/** The bits that each category sets. */
		set;
		constructor(hashes, bits) {
			this.bits = bits;
			this.set = hashes.map((own) => new Set(own.map((hash) => Number(hash % BigInt(bits)))));
		}
		/** Tell whether the counts of the bits determine the shares. */
		get isDetermined() {
			return areIndependent(this.set);
		}
		/** The largest number of bits in which two categories differ. */
		get distance() {
			let furthest = 0;
			for (const one of this.set) for (const other of this.set) {
				let apart = one.size + other.size;
				for (const bit of one) if (other.has(bit)) apart -= 2;
				furthest = Math.max(furthest, apart);
			}
			return furthest;
		}
	};
}));
// src/randomizers/rappor.ts
var rappor_exports = /* @__PURE__ */ __exportAll({ Rappor: () => Rappor });
/** Return filters of the given size, or of the least power of two from 4k on that is enough. */
function filtersOf({ bits }, hashes) {
	if (bits !== void 0) {
		const given = new BloomFilters(hashes, count("bits", bits, 1, MOST_BITS$2));
		if (given.isDetermined) return given;
		throw new ParameterError("bits", { must: "be enough to tell the categories apart" });
	}
	let size = 2 ** (4 * hashes.length - 1).toString(2).length;
	for (; size <= MOST_BITS$2; size *= 2) {
		const made = new BloomFilters(hashes, size);
		if (made.isDetermined) return made;
	}
	throw new ParameterError("hashes", { must: "be fewer to tell the categories apart" });
}
var MOST_CATEGORIES, MOST_BITS$2, MOST_HASHES, USUAL_HASHES, Rappor;
var init_rappor = __esmMin((() => {
	init_domain();
	init_errors();
	init_randomizer();
	init_report();
	init_rounding();
	init_table();
	init_bloom_filter();
	init_calibrated();
	MOST_CATEGORIES = 1e3;
	MOST_BITS$2 = 2 ** 16;
	MOST_HASHES = 1e3;
	USUAL_HASHES = 2;
	Rappor = class Rappor extends Randomizer {
		domain;
		filters;
		maxEpsilonLocal;
		drawBounds;
		reportFormat;
		/** The weight of flipping a bit. */
		flip;
		constructor(own, domain, filters) {
			super();
			this.domain = domain;
			this.filters = filters;
			this.maxEpsilonLocal = maxEpsilonOf(own);
			const denominator = denominatorOf(own);
			const whole = exactly(this.maxEpsilonLocal);
			const distance = BigInt(filters.distance);
			const low = expBelow({
				...whole,
				denominator: distance * whole.denominator
			});
			this.flip = ceilingOf(denominator * low.denominator, low.numerator + low.denominator);
			requireLaw(denominator - this.flip, this.flip);
			this.drawBounds = Array(filters.bits).fill(denominator);
			this.reportFormat = new ReportFormat(Array(filters.bits).fill(2n));
		}
		/** Make it; the hashes of the platform are asynchronous. */
		static async of(specification) {
			const own = table("rappor", specification, [
				...COMMON,
				"k",
				"labels",
				"bits",
				"hashes"
			]);
			const domain = Categories.of(own);
			if (domain.size > MOST_CATEGORIES) throw new ParameterError("k", { must: `be at most ${MOST_CATEGORIES} for rappor` });
			const { hashes = USUAL_HASHES } = own;
			const made = await hashesOf(domain.labels(), count("hashes", hashes, 1, MOST_HASHES));
			return new Rappor(own, domain, filtersOf(own, made));
		}
		respond(index, draws) {
			const own = this.filters.set[index];
			return draws.map((draw, bit) => own.has(bit) === draw < this.flip ? 0n : 1n);
		}
	};
}));
// src/randomizers/buckets.ts
/** Return the whole number nearest to e^epsilon + 1, but at most so many. */
function bestBuckets(epsilon, most) {
	const low = expBelow(exactly(epsilon));
	const best = nearest({
		...low,
		numerator: low.numerator + low.denominator
	});
	return best < most ? best : most;
}
var init_buckets = __esmMin((() => {
	init_rounding();
}));
// src/randomizers/local_hashing.ts
var local_hashing_exports = /* @__PURE__ */ __exportAll({ LocalHashing: () => LocalHashing });
function primeOf({ prime }) {
	if (prime === void 0) return LARGEST_PRIME;
	const given = wholeNumber("prime", prime, 2n, LARGEST_PRIME);
	for (let factor = 2n; factor * factor <= given; factor += 1n) if (given % factor === 0n) throw new ParameterError("prime", { must: "be a prime" });
	return given;
}
/** Return the given number of buckets, or the one nearest to e^epsilon + 1. */
function bucketsOf$1({ buckets }, epsilon, prime) {
	if (buckets !== void 0) return wholeNumber("buckets", buckets, 2n, prime);
	return bestBuckets(epsilon, prime);
}
var LARGEST_PRIME, LocalHashing;
var init_local_hashing = __esmMin((() => {
	init_domain();
	init_errors();
	init_randomizer();
	init_report();
	init_table();
	init_buckets();
	init_calibrated();
	init_k_rr();
	LARGEST_PRIME = 2642239n;
	LocalHashing = class extends Randomizer {
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
			this.buckets = bucketsOf$1(own, this.maxEpsilonLocal, this.#prime);
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
}));
// src/randomizers/hash_family.ts
/**
* Return the bucket of a message under one function of the family that a batch's name gives.
*
* With the fingerprint x1 2^32 + x0 of the message and the words a1, a0, b of the function,
*
*     h(m) = (((a1 x1 + a0 x0 + b) mod 2^64) div 2^32) g div 2^32.
*/
async function bucketOf(message, { name, row, buckets }) {
	const seed = await sha256(concat(LABEL, name));
	const [fingerprint] = await words(seed, MESSAGE, message);
	const [first, second, constant] = await words(seed, FUNCTION, bigEndian(row, 4));
	return (first * (fingerprint >> HALF) + second * (fingerprint & LOW) + constant >> HALF & LOW) * buckets >> HALF;
}
/** Return the first three words of a digest. */
async function words(...parts) {
	const view = new DataView((await sha256(concat(...parts))).buffer);
	return [
		view.getBigUint64(0),
		view.getBigUint64(8),
		view.getBigUint64(16)
	];
}
var LABEL, MESSAGE, FUNCTION, HALF, LOW;
var init_hash_family = __esmMin((() => {
	init_bytes();
	LABEL = utf8("croupier hash family v1");
	MESSAGE = Uint8Array.of(0);
	FUNCTION = Uint8Array.of(1);
	HALF = 32n;
	LOW = (1n << HALF) - 1n;
}));
// src/randomizers/family_hashing.ts
/** Return the given number of buckets, or the one nearest to e^epsilon + 1. */
function bucketsOf({ buckets }, epsilon) {
	if (buckets !== void 0) return wholeNumber("buckets", buckets, 2n, MOST_BUCKETS);
	return bestBuckets(epsilon, CHOSEN_BUCKETS);
}
var OF_A_FAMILY, USUAL_FUNCTIONS, MOST_FUNCTIONS, MOST_ROWS, MOST_BUCKETS, CHOSEN_BUCKETS, MOST_CELLS, FamilyHashing;
var init_family_hashing = __esmMin((() => {
	init_randomizer();
	init_report();
	init_table();
	init_buckets();
	init_calibrated();
	init_hash_family();
	init_k_rr();
	OF_A_FAMILY = [
		...COMMON,
		"functions",
		"buckets"
	];
	USUAL_FUNCTIONS = 1024;
	MOST_FUNCTIONS = 2 ** 16;
	MOST_ROWS = 2 ** 20;
	MOST_BUCKETS = 2n ** 16n;
	CHOSEN_BUCKETS = 2n ** 12n;
	MOST_CELLS = 2 ** 26;
	FamilyHashing = class extends Randomizer {
		domain;
		maxEpsilonLocal;
		drawBounds;
		reportFormat;
		variesByBatch = true;
		blanket;
		#functions;
		#buckets;
		constructor(own, domain, levels) {
			super();
			this.domain = domain;
			this.maxEpsilonLocal = maxEpsilonOf(own);
			const { functions = USUAL_FUNCTIONS } = own;
			this.#buckets = bucketsOf(own, this.maxEpsilonLocal);
			const room = Math.min(MOST_ROWS, MOST_CELLS / Number(this.#buckets));
			const most = Math.min(MOST_FUNCTIONS, Math.floor(room / levels));
			this.#functions = count("functions", functions, 1, most);
			const rows = BigInt(levels * this.#functions);
			const denominator = denominatorOf(own);
			this.blanket = blanketWeight(denominator, this.maxEpsilonLocal, this.#buckets);
			this.drawBounds = [rows, denominator];
			this.reportFormat = new ReportFormat([rows, this.#buckets]);
		}
		async respond(index, draws, batch) {
			const [row, drawn] = draws;
			return [row, karyResponse(await bucketOf(this.message(index, Math.floor(Number(row) / this.#functions)), {
				name: batch,
				row,
				buckets: this.#buckets
			}), drawn, this.blanket, this.#buckets)];
		}
	};
}));
// src/randomizers/dictionary.ts
var dictionary_exports = /* @__PURE__ */ __exportAll({ Dictionary: () => Dictionary });
var MOST_ANSWERS, Dictionary;
var init_dictionary = __esmMin((() => {
	init_bytes();
	init_domain();
	init_errors();
	init_table();
	init_family_hashing();
	MOST_ANSWERS = 1e7;
	Dictionary = class extends FamilyHashing {
		constructor(specification) {
			const own = table("dictionary", specification, [
				...OF_A_FAMILY,
				"k",
				"labels"
			]);
			const answers = Categories.of(own);
			if (answers.size > MOST_ANSWERS) throw new ParameterError("k", { must: `be at most ${MOST_ANSWERS}` });
			super(own, answers, 1);
		}
		message(index) {
			return bigEndian(index, 8);
		}
	};
}));
// src/texts.ts
/** Return a text without the spaces at its ends. */
function stripped(text) {
	let [start, end] = [0, text.length];
	while (text[start] === " ") start += 1;
	while (end > start && text[end - 1] === " ") end -= 1;
	return text.slice(start, end);
}
/** Return the number of each letter, from 1. */
function placesOf(alphabet, normalised) {
	const letters = typeof alphabet === "string" ? [...alphabet] : [];
	const places = new Map(letters.map((letter, place) => [letter, place + 1]));
	const hasHalves = letters.some((letter) => HALF_A_CHARACTER.test(letter));
	if (places.size < 1 || places.size < letters.length || places.size > MOST_LETTERS || hasHalves) {
		const must = `be at most ${MOST_LETTERS} letters that all differ, or be left out for bytes`;
		throw new ParameterError("alphabet", { must });
	}
	if (letters.some((letter) => letter !== " " && normalised(letter) !== letter)) throw new ParameterError("alphabet", { must: "have letters that the normalisation leaves as they are" });
	return places;
}
var BYTES, MOST_LETTERS, MOST_BITS$1, HALF_A_CHARACTER, NORMALISED, Texts;
var init_texts = __esmMin((() => {
	init_bytes();
	init_errors();
	init_table();
	BYTES = 256;
	MOST_LETTERS = 2 ** 16 - 1;
	MOST_BITS$1 = 1e3;
	HALF_A_CHARACTER = /\p{Cs}/u;
	NORMALISED = {
		none: (text) => text,
		lower: (text) => stripped(text).replace(/[A-Z]/g, (sign) => sign.toLowerCase()),
		nfc: (text) => stripped(text).normalize("NFC")
	};
	Texts = class {
		longest;
		/** The number of letters of the alphabet. */
		letters;
		#normalised;
		#places;
		constructor({ longest, alphabet, normalisation = "none" }) {
			const known = oneOf("normalisation", normalisation, Object.keys(NORMALISED));
			this.#normalised = NORMALISED[known];
			if (alphabet !== void 0) this.#places = placesOf(alphabet, this.#normalised);
			this.letters = this.#places?.size ?? BYTES;
			const bits = (this.letters + 1).toString(2).length;
			this.longest = count("longest", longest, 1, Math.floor(MOST_BITS$1 / bits));
		}
		encode(value) {
			const codes = typeof value === "string" ? this.#codes(this.#normalised(value)) : [void 0];
			return Array.from({ length: this.longest }, (_, place) => {
				const code = place < codes.length ? codes[place] : 0;
				if (code !== void 0) return code;
				throw new DataError("The value is not a text of the alphabet. Map other letters to one of the alphabet, or leave the alphabet out.");
			});
		}
		#codes(text) {
			const places = this.#places;
			if (places !== void 0) return Array.from(text, (letter) => places.get(letter));
			if (HALF_A_CHARACTER.test(text)) return [void 0];
			return Array.from(utf8(text), (byte) => byte + 1);
		}
	};
}));
// src/randomizers/text.ts
var text_exports = /* @__PURE__ */ __exportAll({ Text: () => Text });
/** Return the given lengths of the prefixes, or those that the size of the alphabet suggests. */
function lengthsOf({ levels }, { longest, letters }) {
	if (levels !== void 0) {
		const given = list("levels", levels).map((each) => count("levels", each, 1, longest));
		const most = lettersWithin(MOST_CHILDREN, letters + 1);
		const ascend = given.every((each, place) => {
			const more = each - (given[place - 1] ?? each - 1);
			return more > 0 && more <= most;
		});
		if (given.at(-1) === longest && ascend) return given;
		const must = `be lengths of prefixes that ascend by at most ${most}, the last ${longest}`;
		throw new ParameterError("levels", { must });
	}
	const step = lettersWithin(CHILDREN, letters + 1);
	const lengths = [];
	for (let at = lettersWithin(FIRST_PREFIXES, letters + 1); at < longest; at += step) lengths.push(at);
	return [...lengths, longest];
}
/** Return the number of letters up to which there are at most so many texts, at least one. */
function lettersWithin(most, signs) {
	let length = 1;
	while (signs ** (length + 1) <= most) length += 1;
	return length;
}
var FIRST_PREFIXES, CHILDREN, MOST_CHILDREN, LETTER_SIZE, Text;
var init_text = __esmMin((() => {
	init_bytes();
	init_errors();
	init_table();
	init_texts();
	init_family_hashing();
	FIRST_PREFIXES = 1e5;
	CHILDREN = 1e3;
	MOST_CHILDREN = 2 ** 21;
	LETTER_SIZE = 2;
	Text = class extends FamilyHashing {
		#lengths;
		constructor(specification) {
			const own = table("text", specification, [
				...OF_A_FAMILY,
				"longest",
				"alphabet",
				"normalisation",
				"levels"
			]);
			const texts = new Texts(own);
			const lengths = lengthsOf(own, texts);
			super(own, texts, lengths.length);
			this.#lengths = lengths;
		}
		message(index, level) {
			return concat(...[level, ...index.slice(0, this.#lengths[level])].map((letter) => bigEndian(letter, LETTER_SIZE)));
		}
	};
}));
// src/randomizers/several.ts
var SeveralQuestions;
var init_several = __esmMin((() => {
	init_errors();
	init_randomizer();
	SeveralQuestions = class SeveralQuestions extends Randomizer {
		queries;
		constructor(queries) {
			super();
			this.queries = queries;
			const isOther = (query) => query instanceof SeveralQuestions || query.permanent !== void 0;
			if (queries.length === 0 || queries.some(isOther)) throw new ParameterError("queries", { must: "be at least one, none of them several questions itself or with a permanent answer" });
		}
	};
}));
// src/randomizers/parallel.ts
var parallel_exports = /* @__PURE__ */ __exportAll({ ParallelRandomizer: () => ParallelRandomizer });
function requireWeights(queries, weights, total) {
	if (weights.length !== queries.length || total > WORD) throw new ParameterError("weights", { must: "be one per query, with a sum of at most 2^64" });
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
var ParallelRandomizer, greater, ParallelFormat;
var init_parallel = __esmMin((() => {
	init_domain();
	init_errors();
	init_keystream();
	init_weighted();
	init_report();
	init_several();
	ParallelRandomizer = class extends SeveralQuestions {
		weights;
		maxEpsilonLocal;
		domain;
		drawBounds;
		reportFormat;
		variesByBatch;
		/** The draws that each query uses. */
		#columns;
		constructor(queries, weights) {
			super(queries);
			this.weights = weights;
			const total = weights.reduce((sum, weight) => sum + weight, 0n);
			requireWeights(queries, weights, total);
			this.maxEpsilonLocal = Math.max(...queries.map((query) => query.maxEpsilonLocal));
			this.domain = new Product(queries.map((query) => query.domain));
			this.variesByBatch = queries.some((query) => query.variesByBatch);
			this.reportFormat = new ParallelFormat(queries.map((query) => query.reportFormat));
			const shared = sharedDraws(queries);
			this.drawBounds = [total, ...[...shared].flatMap(([bound, times]) => Array(times).fill(bound))];
			this.#columns = queries.map((query) => columnsOf(query, shared));
		}
		async respond(indices, draws, batch) {
			const drawn = weighted(this.weights, draws[0]);
			const query = this.queries[drawn];
			const own = this.#columns[drawn].map((place) => draws[place]);
			const answer = await query.respond(indices[drawn], own, batch);
			const padding = this.reportFormat.bounds.length - 1 - answer.length;
			return [
				BigInt(drawn),
				...answer,
				...Array(padding).fill(0n)
			];
		}
	};
	greater = (first, second) => {
		if (first > second) return first;
		return second;
	};
	ParallelFormat = class extends ReportFormat {
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
}));
// src/randomizers/distribution.ts
var distribution_exports = /* @__PURE__ */ __exportAll({ Distribution: () => Distribution });
/** Return the number of nodes of each level, the coarsest first. */
function sizesOf(size, fanout) {
	if (size <= 2 * fanout) return [size];
	return [...sizesOf(Math.ceil(size / fanout), fanout), size];
}
/** Return the mechanism of each level: k-RR over few nodes, local hashing over many. */
function levelsOf(sizes, { grid: _grid, fanout: _fanout, ...own }) {
	const few = 3n * bestBuckets(maxEpsilonOf(own), BigInt(MOST_NUMBERS));
	return sizes.map((k) => k <= few ? new KaryRandomizedResponse({
		...own,
		k
	}) : new LocalHashing({
		...own,
		k
	}));
}
var MOST_NUMBERS, USUAL_FANOUT, Distribution;
var init_distribution = __esmMin((() => {
	init_domain();
	init_errors();
	init_randomizer();
	init_table();
	init_buckets();
	init_calibrated();
	init_k_rr();
	init_local_hashing();
	init_parallel();
	init_plain();
	MOST_NUMBERS = 4096;
	USUAL_FANOUT = 4;
	Distribution = class extends Randomizer {
		maxEpsilonLocal;
		domain;
		drawBounds;
		reportFormat;
		alphabetSize;
		/** The mechanism of each level; none without an epsilon. */
		levels;
		#inner;
		#inputOf;
		constructor(specification) {
			super();
			const own = table("distribution", specification, [
				...COMMON,
				"grid",
				"fanout"
			]);
			this.domain = Grid.of(own.grid);
			const { size } = this.domain;
			if (size > MOST_NUMBERS) throw new ParameterError("grid", { must: `have at most ${MOST_NUMBERS} numbers` });
			denominatorOf(own);
			const fanout = count("fanout", own.fanout ?? USUAL_FANOUT, 2, MOST_NUMBERS);
			if (own.max_epsilon_local === void 0) {
				this.levels = [];
				this.#inner = new Plain({ k: size });
				this.#inputOf = (index) => index;
			} else {
				const sizes = sizesOf(size, fanout);
				const widths = sizes.map((_, level) => fanout ** (sizes.length - 1 - level));
				this.levels = levelsOf(sizes, own);
				this.#inner = new ParallelRandomizer(this.levels, Array(sizes.length).fill(1n));
				this.#inputOf = (index) => widths.map((width) => Math.floor(index / width));
			}
			this.maxEpsilonLocal = this.#inner.maxEpsilonLocal;
			this.drawBounds = this.#inner.drawBounds;
			this.reportFormat = this.#inner.reportFormat;
			this.alphabetSize = this.#inner.alphabetSize;
		}
		respond(index, draws, batch) {
			return this.#inner.respond(this.#inputOf(index), draws, batch);
		}
	};
}));
// src/randomizers/hadamard.ts
var hadamard_exports = /* @__PURE__ */ __exportAll({ HadamardResponse: () => HadamardResponse });
/** Tell whether the number of ones is odd. */
function isOdd(word) {
	let odd = false;
	for (let rest = word; rest > 0n; rest >>= 1n) odd = odd !== ((rest & 1n) === 1n);
	return odd;
}
var HadamardResponse;
var init_hadamard = __esmMin((() => {
	init_domain();
	init_randomizer();
	init_report();
	init_table();
	init_calibrated();
	HadamardResponse = class extends Randomizer {
		maxEpsilonLocal;
		domain;
		drawBounds;
		reportFormat;
		/** The weight of the wrong side. */
		miss;
		constructor(specification) {
			super();
			const own = table("hadamard", specification, [
				...COMMON,
				"k",
				"labels"
			]);
			this.maxEpsilonLocal = maxEpsilonOf(own);
			this.domain = Categories.of(own);
			const columns = 1n << BigInt(this.domain.size.toString(2).length);
			const denominator = denominatorOf(own);
			this.miss = blanketWeight(denominator, this.maxEpsilonLocal, 2n);
			this.drawBounds = [denominator, columns];
			this.reportFormat = new ReportFormat([columns]);
		}
		respond(index, draws) {
			const [side, column] = draws;
			const row = BigInt(index) + 1n;
			return [side < this.miss === isOdd(row & column) ? column : column ^ row & -row];
		}
	};
}));
// src/randomizers/grid_mean.ts
/** Refuse a grid whose table, with this many outputs in a row, would not fit. */
function requireCoarse(points, outputs) {
	if (points * outputs <= MOST_ENTRIES) return;
	throw new ParameterError("grid", { must: "be coarser for this mechanism" });
}
var MOST_ENTRIES, GridMean;
var init_grid_mean = __esmMin((() => {
	init_domain();
	init_errors();
	init_randomizer();
	init_report();
	init_table();
	init_calibrated();
	MOST_ENTRIES = 2 ** 21;
	GridMean = class extends Randomizer {
		maxEpsilonLocal;
		domain;
		drawBounds;
		reportFormat;
		table;
		constructor(specification, more, tableOf) {
			super();
			const known = [
				...COMMON,
				"grid",
				...more
			];
			const own = table(String(specification.mechanism), specification, known);
			this.maxEpsilonLocal = maxEpsilonOf(own);
			this.domain = Grid.of(own.grid);
			const denominator = denominatorOf(own);
			const [points, epsilon] = [this.domain.size, this.maxEpsilonLocal];
			this.table = tableOf({
				own,
				points,
				epsilon,
				denominator
			});
			const made = this.table.epsilon;
			if (!(made > 0 && made <= epsilon)) {
				const must = `be expressible by weights over ${denominator}`;
				throw new ParameterError("max_epsilon_local", { must });
			}
			this.drawBounds = [denominator];
			this.reportFormat = new ReportFormat([BigInt(this.table.rows[0].length)]);
		}
		respond(index, draws) {
			return [this.table.respond(index, draws[0])];
		}
	};
}));
// src/numerics/logarithm.ts
/**
* Return the least double above ln(value), up to 1e-50 relative to 1 + ln(value); value >= 1.
*
* It is the logarithm in 60 digits of the value in 60 digits, plus that slack, rounded up.
*/
function logAbove(value) {
	if (value.numerator === value.denominator) return 0;
	const { numerator, denominator } = rounded({
		numerator: logarithm(rounded(value)),
		denominator: ONE
	});
	return doubleAbove({
		numerator: numerator * SLACK + denominator + numerator,
		denominator: denominator * SLACK
	});
}
/** Return ln(value) in fixed point: ln(m 2^e) = ln(m) + e ln(2) with m in [1, 2). */
function logarithm({ numerator, denominator }) {
	const halvings = (numerator / denominator).toString(2).length - 1;
	const scale = denominator << BigInt(halvings);
	return twiceArtanh(numerator - scale, numerator + scale) + BigInt(halvings) * twiceArtanh(1n, 3n);
}
/** Return 2 artanh(z) = ln((1 + z)/(1 - z)) = 2 (z + z^3/3 + z^5/5 + …) in fixed point. */
function twiceArtanh(numerator, denominator) {
	const ratio = (numerator << POINT) / denominator;
	const square = ratio * ratio >> POINT;
	let power = ratio;
	let sum = ratio;
	for (let n = 3n; power > 0n; n += 2n) {
		power = power * square >> POINT;
		sum += power / n;
	}
	return 2n * sum;
}
/** Return the least double that is at least a number in (2^-900, 2^53). */
function doubleAbove({ numerator, denominator }) {
	let shift = SIGNIFICAND - (numerator.toString(2).length - denominator.toString(2).length);
	if (ceilingOf(numerator << BigInt(shift), denominator) > 1n << BigInt(SIGNIFICAND)) shift -= 1;
	return Number(ceilingOf(numerator << BigInt(shift), denominator)) / Number(1n << BigInt(shift));
}
var ONE, SIGNIFICAND;
var init_logarithm = __esmMin((() => {
	init_rounding();
	ONE = 1n << POINT;
	SIGNIFICAND = 53;
}));
// src/numerics/portable.ts
/** Return e^x for x <= 0, to two units in the last place; 0 below -690. */
function portableExp(exponent) {
	if (exponent < LEAST) return 0;
	const halvings = halfEven(-exponent * Math.LOG2E);
	const rest = exponent + halvings * LN2_HIGH + halvings * LN2_LOW;
	let series = 1;
	for (let term = TERMS; term > 0; term -= 1) series = 1 + rest * series / term;
	return series * HALVES[halvings];
}
/** Add numbers from left to right. */
function orderedSum(entries) {
	let sum = 0;
	for (const entry of entries) sum += entry;
	return sum;
}
var LN2_HIGH, LN2_LOW, TERMS, LEAST, HALVES;
var init_portable = __esmMin((() => {
	init_domain();
	LN2_HIGH = .6931471803691238;
	LN2_LOW = 19082149292705877e-26;
	TERMS = 14;
	LEAST = -690;
	HALVES = Float64Array.from({ length: 1e3 }, () => 1);
	for (let place = 1; place < HALVES.length; place += 1) HALVES[place] = HALVES[place - 1] / 2;
}));
// src/randomizers/weight_table.ts
var WeightTable, sum;
var init_weight_table = __esmMin((() => {
	init_errors();
	init_keystream();
	init_logarithm();
	init_portable();
	init_weighted();
	WeightTable = class WeightTable {
		rows;
		denominator;
		constructor(rows, denominator) {
			this.rows = rows;
			this.denominator = denominator;
			if (!rows.every((row) => row.every((weight) => weight >= 0n) && sum(row) === denominator) || denominator < 1n || denominator > WORD) throw new ParameterError("weights", { must: `sum to ${denominator} in every row` });
		}
		/** Round rows of doubles down; what remains goes to the first of each row's largest entries. */
		static rounded(rows, denominator) {
			const scale = Number(denominator);
			const made = rows.map((row) => {
				const total = orderedSum(row);
				const weights = Array.from(row, (entry) => BigInt(Math.floor(entry / total * scale)));
				const largest = row.reduce((best, entry, place) => entry > row[best] ? place : best, 0);
				weights[largest] = weights[largest] + denominator - sum(weights);
				return weights;
			});
			return new WeightTable(made, denominator);
		}
		/** The epsilon of the integers, rounded up; infinite if a row excludes what another allows. */
		get epsilon() {
			let worst = {
				numerator: 1n,
				denominator: 1n
			};
			for (const place of (this.rows[0] ?? []).keys()) {
				let [most, least] = [0n, this.denominator];
				for (const row of this.rows) {
					const weight = row[place];
					if (weight > most) most = weight;
					if (weight < least) least = weight;
				}
				if (most > 0n && least === 0n) return Number.POSITIVE_INFINITY;
				if (most * worst.denominator > worst.numerator * least) worst = {
					numerator: most,
					denominator: least
				};
			}
			return logAbove(worst);
		}
		/** Return the output of a row at a draw below the denominator. */
		respond(row, draw) {
			return BigInt(weighted(this.rows[row], draw));
		}
	};
	sum = (row) => row.reduce((total, weight) => total + weight, 0n);
}));
// src/randomizers/laplace.ts
var laplace_exports = /* @__PURE__ */ __exportAll({ DiscreteLaplace: () => DiscreteLaplace });
function laplaceTable(law) {
	const { points, denominator } = law;
	requireCoarse(points, points);
	const last = points - 1;
	const tails = tailsOf(law);
	const tail = (at) => tails[at];
	const inside = (at) => at === 0 ? denominator - 2n * tail(1) : tail(at) - tail(at + 1);
	const end = (distance) => distance === 0 ? denominator - tail(1) : tail(distance);
	const row = (x) => Array.from({ length: points }, (_, y) => {
		if (y === 0) return end(x);
		return y === last ? end(last - x) : inside(Math.abs(y - x));
	});
	return new WeightTable(Array.from({ length: points }, (_, x) => row(x)), denominator);
}
/** The weights S_0, …, S_m; the first is not used. */
function tailsOf({ points, epsilon, denominator }) {
	const whole = exactly(epsilon);
	const power = (at) => ({
		numerator: -whole.numerator * BigInt(at),
		denominator: whole.denominator * BigInt(points - 1)
	});
	const low = expBelow(power(1));
	return Array.from({ length: points }, (_, at) => {
		const high = expAbove(power(at));
		return ceilingOf(denominator * high.numerator * low.denominator, high.denominator * (low.numerator + low.denominator));
	});
}
var DiscreteLaplace;
var init_laplace = __esmMin((() => {
	init_rounding();
	init_grid_mean();
	init_weight_table();
	DiscreteLaplace = class extends GridMean {
		constructor(specification) {
			super(specification, [], laplaceTable);
		}
	};
}));
// src/numerics/cut_gaussian.ts
/**
* Return the chances of the outputs -reach, …, points - 1 + reach, one row per mean.
*
* Newton's method on the centres, of all rows together until each has its mean. Every operation is
* in the order of Python's, so that every double is the same.
*/
function cutGaussians(means, law) {
	const outputs = Float64Array.from({ length: law.points + 2 * law.reach }, (_, place) => {
		return place - law.reach;
	});
	const centers = [...means];
	let rows = [];
	for (let step = 0; step < MOST_STEPS; step += 1) {
		rows = centers.map((center) => cutGaussian(outputs, center, law.sigma));
		const found = rows.map((row) => orderedSum(row.map((chance, y) => chance * at(outputs, y))));
		const errors = found.map((mean, place) => at(means, place) - mean);
		if (errors.every((error) => Math.abs(error) <= TOLERANCE$1 * outputs.length)) break;
		rows.forEach((row, place) => {
			const mean = at(found, place);
			const spread = orderedSum(row.map((chance, y) => chance * (at(outputs, y) * at(outputs, y)))) - mean * mean;
			const move = at(errors, place) / spread * (law.sigma * law.sigma);
			centers[place] = at(centers, place) + Math.min(Math.max(move, -law.sigma), law.sigma);
		});
	}
	return rows;
}
function cutGaussian(outputs, center, sigma) {
	const exponents = outputs.map((output) => {
		const distance = (output - center) / sigma;
		return -.5 * (distance * distance);
	});
	const greatest = exponents.reduce((most, exponent) => Math.max(most, exponent));
	const weights = exponents.map((exponent) => portableExp(exponent - greatest));
	const total = orderedSum(weights);
	return weights.map((weight) => weight / total);
}
var MOST_STEPS, TOLERANCE$1, at;
var init_cut_gaussian = __esmMin((() => {
	init_portable();
	MOST_STEPS = 200;
	TOLERANCE$1 = 1e-14;
	at = (entries, place) => entries[place];
}));
// src/randomizers/gaussian.ts
var gaussian_exports = /* @__PURE__ */ __exportAll({ DiscreteGaussian: () => DiscreteGaussian });
function gaussianTable(law) {
	const { points, epsilon, denominator } = law;
	const cut = lawOf(law);
	const rows = cutGaussians(Array.from({ length: points }, (_, place) => place), cut);
	const [low, high] = ends(cut);
	rows[0] = low;
	rows[points - 1] = high;
	const weights = WeightTable.rounded(rows, denominator).rows.map((row) => [...row]);
	const [first, last] = [weights[0], weights[points - 1]];
	raiseEnd(last, first, first.length - 1, -1, epsilon);
	raiseEnd(first, last, 0, 1, epsilon);
	return new WeightTable(weights, denominator);
}
/** Return the least sigma that keeps below epsilon, and the reach. */
function lawOf({ own, points, epsilon, denominator }) {
	const tail = own.tail === void 0 ? USUAL_TAIL : number$1("tail", own.tail);
	if (!(tail >= 2 && tail <= 5)) throw new ParameterError("tail", { must: "be in [2, 5]" });
	const uncut = (points - 1) / (Math.sqrt(tail * tail + 2 * epsilon) - tail);
	const reach = Math.ceil(tail * uncut);
	requireCoarse(points, points + 2 * reach);
	if (reach > MOST_REACH) throw new ParameterError("grid", { must: "be coarser for an epsilon this small" });
	let law = {
		points,
		reach,
		sigma: uncut
	};
	for (const slack of SLACKS) {
		law = leastSigma(law, epsilon * (1 - slack));
		if (WeightTable.rounded(ends(law), denominator).epsilon <= epsilon) break;
	}
	return law;
}
/** Return the law with the least sigma at which the ends, before rounding, stay below a target. */
function leastSigma(law, target) {
	const least = portableExp(-target);
	const isSafe = (sigma) => {
		const [low, high] = ends({
			...law,
			sigma
		});
		return low.every((one, place) => {
			const other = high[place];
			return one >= other * least && other >= one * least;
		});
	};
	const scale = law.sigma;
	let [safe, unsafe] = [100 * scale, scale / 100];
	if (!isSafe(safe)) throw new ParameterError("grid", { must: "have a law at this epsilon" });
	while (Math.abs(unsafe - safe) > 1e-15 * scale) {
		const middle = safe + (unsafe - safe) / 2;
		if (middle === safe || middle === unsafe) break;
		if (isSafe(middle)) safe = middle;
		else unsafe = middle;
	}
	return {
		...law,
		sigma: safe
	};
}
function ends(law) {
	return cutGaussians([0, law.points - 1], law);
}
/**
* Raise the weight of the outermost output as far as epsilon allows.
*
* The weight comes from the next output; the same amount moves the other way at the centre, so that
* the mean stays where it is.
*/
function raiseEnd(row, other, end, inward, epsilon) {
	const low = expBelow(exactly(epsilon));
	const at = (place) => row[place];
	const room = other[end] * low.numerator / low.denominator - at(end);
	const center = row.reduce((best, weight, place) => weight > at(best) ? place : best, 0);
	if (room <= 0n || room >= at(end + inward) || room >= at(center)) return;
	row[end] = at(end) + room;
	row[end + inward] = at(end + inward) - room;
	row[center] = at(center) - room;
	row[center + inward] = at(center + inward) + room;
}
var USUAL_TAIL, MOST_REACH, SLACKS, DiscreteGaussian;
var init_gaussian = __esmMin((() => {
	init_errors();
	init_cut_gaussian();
	init_portable();
	init_rounding();
	init_table();
	init_grid_mean();
	init_weight_table();
	USUAL_TAIL = 3;
	MOST_REACH = 2 ** 16;
	SLACKS = [0, ...Array.from({ length: 14 }, (_, place) => Number(`1e${place - 14}`))];
	DiscreteGaussian = class extends GridMean {
		constructor(specification) {
			super(specification, ["tail"], gaussianTable);
		}
	};
}));
// src/randomizers/one_bit_mean.ts
var one_bit_mean_exports = /* @__PURE__ */ __exportAll({ OneBitMean: () => OneBitMean });
var OneBitMean;
var init_one_bit_mean = __esmMin((() => {
	init_domain();
	init_randomizer();
	init_report();
	init_rounding();
	init_table();
	init_calibrated();
	OneBitMean = class extends Randomizer {
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
}));
// src/sign_vectors.ts
var SignVectors;
var init_sign_vectors = __esmMin((() => {
	init_errors();
	SignVectors = class {
		width;
		constructor(width) {
			this.width = width;
		}
		encode(value) {
			if (!Array.isArray(value) || value.length !== this.width) throw new DataError(`The value must be a list of ${this.width} signs.`);
			if (value.some((entry) => entry !== 1 && entry !== -1)) throw new DataError("The value has entries that are neither -1 nor +1. Take the sign first.");
			return value.map((entry) => entry === 1 ? 1n : 0n);
		}
	};
}));
// src/randomizers/sampled_sign.ts
var sampled_sign_exports = /* @__PURE__ */ __exportAll({ SampledSign: () => SampledSign });
var MOST_SIGNS, SampledSign;
var init_sampled_sign = __esmMin((() => {
	init_randomizer();
	init_report();
	init_sign_vectors();
	init_table();
	init_calibrated();
	init_k_rr();
	MOST_SIGNS = 2 ** 40;
	SampledSign = class extends Randomizer {
		maxEpsilonLocal;
		domain;
		drawBounds;
		reportFormat;
		/** The weight of the untrue sign. */
		blanket;
		constructor(specification) {
			super();
			const own = table("sampled-sign", specification, [...COMMON, "dimension"]);
			this.maxEpsilonLocal = maxEpsilonOf(own);
			this.domain = new SignVectors(count("dimension", own.dimension, 1, MOST_SIGNS));
			const [dimension, denominator] = [BigInt(this.domain.width), denominatorOf(own)];
			this.blanket = blanketWeight(denominator, this.maxEpsilonLocal, 2n);
			this.drawBounds = [dimension, denominator];
			this.reportFormat = new ReportFormat([dimension, 2n]);
		}
		respond(signs, draws) {
			const [coordinate, drawn] = draws;
			const own = signs[Number(coordinate)];
			return [coordinate, karyResponse(own, drawn, this.blanket, 2n)];
		}
	};
}));
// src/randomizers/matrix.ts
var matrix_exports = /* @__PURE__ */ __exportAll({ MatrixRandomizer: () => MatrixRandomizer });
function isWhole(entry) {
	return typeof entry === "bigint" || Number.isSafeInteger(entry);
}
function integers(rows) {
	const weights = rows.map((row) => row.map((entry) => BigInt(entry)));
	const [first = []] = weights;
	return new WeightTable(weights, first.reduce((sum, weight) => sum + weight, 0n));
}
function chances(rows) {
	const made = rows.map((row) => Float64Array.from(row, (entry) => number$1("matrix", entry)));
	const isLaw = (row) => row.every((entry) => entry >= 0) && Math.abs(orderedSum(row) - 1) <= TOLERANCE;
	if (!made.every(isLaw)) throw new ParameterError("matrix", { must: "have chances that sum to 1 in every row" });
	return WeightTable.rounded(made, WORD);
}
var TOLERANCE, MatrixRandomizer;
var init_matrix = __esmMin((() => {
	init_domain();
	init_errors();
	init_keystream();
	init_portable();
	init_randomizer();
	init_report();
	init_table();
	init_weight_table();
	TOLERANCE = 1e-9;
	MatrixRandomizer = class extends Randomizer {
		maxEpsilonLocal;
		domain;
		drawBounds;
		reportFormat;
		table;
		constructor(specification) {
			super();
			const own = table("matrix", specification, [
				"mechanism",
				"matrix",
				"labels"
			]);
			const rows = list("matrix", own.matrix).map((row) => list("matrix", row));
			const columns = rows[0]?.length ?? 0;
			if (columns === 0 || rows.some((row) => row.length !== columns)) throw new ParameterError("matrix", { must: "have rows and columns, all of one length" });
			this.domain = Categories.of(own.labels === void 0 ? { k: rows.length } : { labels: own.labels });
			if (this.domain.size !== rows.length) throw new ParameterError("labels", { must: `be ${rows.length}, one per row` });
			this.table = rows.every((row) => row.every(isWhole)) ? integers(rows) : chances(rows);
			this.maxEpsilonLocal = this.table.epsilon;
			this.drawBounds = [this.table.denominator];
			this.reportFormat = new ReportFormat([BigInt(columns)]);
		}
		respond(index, draws) {
			return [this.table.respond(index, draws[0])];
		}
	};
}));
// src/randomizers/unary_encoding.ts
var unary_encoding_exports = /* @__PURE__ */ __exportAll({
	OptimizedUnaryEncoding: () => OptimizedUnaryEncoding,
	SymmetricUnaryEncoding: () => SymmetricUnaryEncoding
});
var MOST_BITS, UnaryEncoding, SymmetricUnaryEncoding, OptimizedUnaryEncoding;
var init_unary_encoding = __esmMin((() => {
	init_domain();
	init_errors();
	init_randomizer();
	init_report();
	init_rounding();
	init_table();
	init_calibrated();
	MOST_BITS = 2 ** 20;
	UnaryEncoding = class extends Randomizer {
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
	SymmetricUnaryEncoding = class extends UnaryEncoding {
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
	OptimizedUnaryEncoding = class extends UnaryEncoding {
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
}));
// src/randomizers/subset_selection.ts
var subset_selection_exports = /* @__PURE__ */ __exportAll({ SubsetSelection: () => SubsetSelection });
/** Return the given size of the set, or the one nearest to k/(e^epsilon + 1). */
function membersOf({ subset_size }, k, low) {
	const best = nearest({
		numerator: BigInt(k) * low.denominator,
		denominator: low.numerator + low.denominator
	});
	return count("subset_size", subset_size ?? (best > 0n ? best : 1n), 1, Math.min(k - 1, MOST_MEMBERS));
}
var MOST_MEMBERS, SubsetSelection;
var init_subset_selection = __esmMin((() => {
	init_domain();
	init_randomizer();
	init_report();
	init_rounding();
	init_table();
	init_calibrated();
	MOST_MEMBERS = 2 ** 20;
	SubsetSelection = class extends Randomizer {
		maxEpsilonLocal;
		domain;
		drawBounds;
		reportFormat;
		/** The weight of a set without the value. */
		miss;
		constructor(specification) {
			super();
			const own = table("subset-selection", specification, [
				...COMMON,
				"k",
				"labels",
				"subset_size"
			]);
			this.maxEpsilonLocal = maxEpsilonOf(own);
			this.domain = Categories.of(own);
			const denominator = denominatorOf(own);
			const low = expBelow(exactly(this.maxEpsilonLocal));
			const members = membersOf(own, this.domain.size, low);
			const [k, d] = [BigInt(this.domain.size), BigInt(members)];
			this.miss = ceilingOf(denominator * (k - d) * low.denominator, d * low.numerator + (k - d) * low.denominator);
			requireLaw((denominator - this.miss) * (k - d), this.miss * d);
			const places = Array.from({ length: members }, (_, place) => k - 1n - BigInt(place));
			this.drawBounds = [denominator, ...places];
			this.reportFormat = new ReportFormat(Array(members).fill(k), true);
		}
		respond(index, draws) {
			const [first, ...others] = draws;
			const moved = /* @__PURE__ */ new Map();
			const at = (place) => moved.get(place) ?? (place < index ? place : place + 1n);
			const members = others.map((draw, place) => {
				const [here, chosen] = [BigInt(place), BigInt(place) + draw];
				const member = at(chosen);
				moved.set(chosen, at(here));
				return member;
			});
			if (first >= this.miss) members[members.length - 1] = BigInt(index);
			return members.sort((one, other) => one < other ? -1 : 1);
		}
	};
}));
// src/randomizers/together.ts
var together_exports = /* @__PURE__ */ __exportAll({ TogetherRandomizer: () => TogetherRandomizer });
var TogetherRandomizer, TogetherFormat;
var init_together = __esmMin((() => {
	init_domain();
	init_errors();
	init_decimal();
	init_report();
	init_several();
	TogetherRandomizer = class extends SeveralQuestions {
		/** The sum of the questions', as they are written in decimals. */
		maxEpsilonLocal;
		domain;
		drawBounds;
		reportFormat;
		variesByBatch;
		constructor(queries) {
			super(queries);
			if (!queries.every((query) => Number.isFinite(query.maxEpsilonLocal))) throw new ParameterError("queries", { must: "each limit epsilon: they are answered together" });
			this.maxEpsilonLocal = decimalSum(queries.map((query) => query.maxEpsilonLocal));
			this.domain = new Product(queries.map((query) => query.domain));
			this.drawBounds = queries.flatMap((query) => query.drawBounds);
			this.variesByBatch = queries.some((query) => query.variesByBatch);
			this.reportFormat = new TogetherFormat(queries.map((query) => query.reportFormat));
		}
		async respond(indices, draws, batch) {
			let end = 0;
			const answers = this.queries.map((query, place) => {
				const start = end;
				end += query.drawBounds.length;
				return query.respond(indices[place], draws.slice(start, end), batch);
			});
			return (await Promise.all(answers)).flat();
		}
	};
	TogetherFormat = class extends ReportFormat {
		answers;
		constructor(answers) {
			super(answers.flatMap(({ bounds }) => bounds));
			this.answers = answers;
		}
		fits(report) {
			if (!super.fits(report)) return false;
			let end = 0;
			return this.answers.every((own) => {
				const start = end;
				end += own.bounds.length;
				return own.fits(report.slice(start, end));
			});
		}
	};
}));
// src/randomizers/registry.ts
/** Return the randomizer of a specification. */
async function build(specification) {
	const own = isTable(specification) ? specification : {};
	const make = MECHANISMS.get(own.mechanism);
	if (make !== void 0) return make(own);
	const known = [...MECHANISMS.keys()].join(", ");
	throw new ParameterError("mechanism", { must: `be one of ${known}` });
}
async function parallel(specification) {
	const own = table("parallel", specification, [
		"mechanism",
		"queries",
		"weights"
	]);
	const queries = await Promise.all(list("queries", own.queries).map(build));
	const given = own.weights === void 0 ? [] : list("weights", own.weights);
	const weights = given.length > 0 ? given : queries.map(() => 1);
	const { ParallelRandomizer } = await Promise.resolve().then(() => (init_parallel(), parallel_exports));
	return new ParallelRandomizer(queries, weights.map((weight) => wholeNumber("weights", weight, 1n, WORD)));
}
async function together(specification) {
	const own = table("together", specification, ["mechanism", "queries"]);
	const { TogetherRandomizer } = await Promise.resolve().then(() => (init_together(), together_exports));
	return new TogetherRandomizer(await Promise.all(list("queries", own.queries).map(build)));
}
var MECHANISMS, unary, subsets;
var init_registry = __esmMin((() => {
	init_errors();
	init_json();
	init_keystream();
	init_table();
	init_k_rr();
	init_plain();
	MECHANISMS = /* @__PURE__ */ new Map([
		["k-rr", (own) => new KaryRandomizedResponse(own)],
		["memoised-k-rr", async (own) => new (await (Promise.resolve().then(() => (init_memoised(), memoised_exports)))).MemoisedResponse(own)],
		["symmetric-unary", async (own) => new (await (unary())).SymmetricUnaryEncoding(own)],
		["optimized-unary", async (own) => new (await (unary())).OptimizedUnaryEncoding(own)],
		["rappor", async (own) => (await Promise.resolve().then(() => (init_rappor(), rappor_exports))).Rappor.of(own)],
		["local-hashing", async (own) => new (await (Promise.resolve().then(() => (init_local_hashing(), local_hashing_exports)))).LocalHashing(own)],
		["dictionary", async (own) => new (await (Promise.resolve().then(() => (init_dictionary(), dictionary_exports)))).Dictionary(own)],
		["text", async (own) => new (await (Promise.resolve().then(() => (init_text(), text_exports)))).Text(own)],
		["distribution", async (own) => new (await (Promise.resolve().then(() => (init_distribution(), distribution_exports)))).Distribution(own)],
		["hadamard", async (own) => new (await (Promise.resolve().then(() => (init_hadamard(), hadamard_exports)))).HadamardResponse(own)],
		["subset-selection", async (own) => new (await (subsets())).SubsetSelection(own)],
		["laplace", async (own) => new (await (Promise.resolve().then(() => (init_laplace(), laplace_exports)))).DiscreteLaplace(own)],
		["gaussian", async (own) => new (await (Promise.resolve().then(() => (init_gaussian(), gaussian_exports)))).DiscreteGaussian(own)],
		["one-bit-mean", async (own) => new (await (Promise.resolve().then(() => (init_one_bit_mean(), one_bit_mean_exports)))).OneBitMean(own)],
		["sampled-sign", async (own) => new (await (Promise.resolve().then(() => (init_sampled_sign(), sampled_sign_exports)))).SampledSign(own)],
		["plain", (own) => new Plain(own)],
		["matrix", async (own) => new (await (Promise.resolve().then(() => (init_matrix(), matrix_exports)))).MatrixRandomizer(own)],
		["parallel", parallel],
		["together", together]
	]);
	unary = () => Promise.resolve().then(() => (init_unary_encoding(), unary_encoding_exports));
	subsets = () => Promise.resolve().then(() => (init_subset_selection(), subset_selection_exports));
}));
// src/plan.ts
/** Return the randomizer of all questions that share a batch; none if they do not. */
async function ofOneBatch({ model, rounds, bins }, questions) {
	const asked = questions.length;
	if (asked !== 1 && asked !== rounds) throw new ParameterError("questions", { must: `be 1 or ${rounds}, one per round` });
	if (!ONE_BATCH.includes(model)) return void 0;
	if (model === "together") {
		const { TogetherRandomizer } = await Promise.resolve().then(() => (init_together(), together_exports));
		return new TogetherRandomizer(questions);
	}
	const { ParallelRandomizer } = await Promise.resolve().then(() => (init_parallel(), parallel_exports));
	return new ParallelRandomizer(Array.from({ length: rounds }, (_, place) => questions[place % asked]), bins[0]);
}
function seconds(name, duration, most, least = 1) {
	const [, amount, unit] = /^(\d{1,8})([smhd])$/.exec(String(duration)) ?? [];
	const length = Number(amount) * UNITS[unit];
	if (length >= least && length <= most) return length;
	const must = `be like "24h", from ${least} to ${most} seconds`;
	throw new ParameterError(`collection.${name}`, { must });
}
/** Refuse a promise that this client does not know: another one may ask another thing of it. */
function requireKnownPromises({ guarantee, analyzer }) {
	const { adjacency } = table("guarantee", guarantee, [
		"adjacency",
		"delta",
		"within"
	]);
	oneOf("guarantee.adjacency", adjacency, ["replace-one"]);
	oneOf("analyzer.publication", isTable(analyzer) && analyzer.publication, PUBLICATIONS);
}
/** Tell whether people are in groups; refuse an order that this client does not know. */
function hasGroups(value) {
	const { order, alpha, groups } = table("shuffling", value, [
		"order",
		"alpha",
		"groups"
	]);
	const isMallows = oneOf("shuffling.order", order, ["uniform", "mallows"]) === "mallows";
	if (groups !== void 0) table("shuffling.groups", groups, ["sha256", "sensitivity"]);
	if (isMallows === (alpha !== void 0) && (groups !== void 0 || !isMallows)) return groups !== void 0;
	throw new ParameterError("shuffling", { must: "have alpha and groups for mallows" });
}
function admissionOf(value) {
	const given = table("admission", value ?? { by: "credential" }, [
		"by",
		"operator",
		"key",
		"relay"
	]);
	const by = oneOf("admission.by", given.by, ["credential", "token"]);
	words$1("admission.operator", given.operator, 200);
	words$1("admission.relay", given.relay, 200);
	const relay = given.relay;
	if (by === "credential" && given.key === void 0) return {
		by,
		key: void 0,
		relay
	};
	return {
		by,
		key: publicKey("admission", given, ["by", "relay"]),
		relay
	};
}
/** Return the key of a party, whose table must have no other entries than these. */
function publicKey(name, party, others) {
	const { key, operator } = table(name, party, [
		"operator",
		"key",
		...others
	]);
	words$1(`${name}.operator`, operator, 200);
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
function costOf(sent, dummies) {
	const local = Math.max(...sent.map(({ budgetCost }) => budgetCost));
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
		text: words$1("questions.text", question.text, 1e3)
	};
}
/** Refuse two questions of one name; those without are called by their number. */
function requireDifferentNames(wordings) {
	const names = wordings.map(({ name }, place) => name ?? `question-${place + 1}`);
	if (new Set(names).size !== names.length) throw new ParameterError("questions.name", { must: "differ from the others" });
}
var SECTIONS, ROUNDS, PROTECTIONS, ONE_BATCH, UNITS, HEAD$1, MOST_BINS, MOST_SHUFFLERS, LONGEST_ROUND, LONGEST_WINDOW, PUBLICATIONS, Plan;
var init_plan = __esmMin((() => {
	init_bytes();
	init_dummies();
	init_errors();
	init_json();
	init_participation();
	init_registry();
	init_table();
	init_words();
	SECTIONS = [
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
		"guarantee",
		"admission"
	];
	ROUNDS = [
		"model",
		"noise",
		"groups",
		"repeats",
		"weights",
		"bins"
	];
	PROTECTIONS = [
		"minimum_batch",
		"minimum_crowd",
		"report_size",
		"messages",
		"disposal_age"
	];
	ONE_BATCH = [
		"parallel",
		"rectified-parallel",
		"together"
	];
	UNITS = {
		s: 1,
		m: 60,
		h: 3600,
		d: 86400
	};
	HEAD$1 = 2;
	MOST_BINS = 1e5;
	MOST_SHUFFLERS = 2;
	LONGEST_ROUND = 31622400;
	LONGEST_WINDOW = 10 ** 8 - 1;
	PUBLICATIONS = [
		"none",
		"estimate",
		"histogram",
		"sorted",
		"released-order"
	];
	Plan = class Plan {
		canonical;
		digest;
		several;
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
		/** The seconds within which a person gives `reports` answers; for ever if undefined. */
		window = void 0;
		/** True if the shuffler learns the sender's public place, because it mixes by groups. */
		owned;
		/** The Ed25519 keys that sign for the shufflers and the analyzer, in hexadecimal. */
		shufflerKeys;
		analyzerKey;
		/** The way in which people are admitted. */
		admission;
		/** The cost of one report to a person's budget. */
		cost;
		constructor(canonical, digest, plan, questions, protocol, several) {
			this.canonical = canonical;
			this.digest = digest;
			this.several = several;
			this.title = words$1("title", plan.title, 200);
			this.purpose = words$1("purpose", plan.purpose, 2e3);
			this.wordings = list("questions", plan.questions).map(wordingOf);
			requireDifferentNames(this.wordings);
			this.questions = questions;
			this.protocol = protocol;
			const { noise } = plan.participation;
			this.noise = oneOf("participation.noise", noise, ["fresh", "reused"]);
			const collection = table("collection", plan.collection, [
				"every",
				"rounds",
				"window"
			]);
			requireKnownPromises(plan);
			const repeats = this.protocol.model === "subsample" ? this.protocol.rounds : 1;
			this.reports = repeats * count("collection.rounds", collection.rounds, 1, 1e5);
			const protections = table("protections", plan.protections, PROTECTIONS);
			this.reportSize = count("protections.report_size", protections.report_size, 4, 65536);
			oneOf("protections.messages", protections.messages, [1]);
			this.roundLength = seconds("every", collection.every, LONGEST_ROUND);
			if (collection.window !== void 0) this.window = seconds("window", collection.window, LONGEST_WINDOW, this.roundLength);
			if (this.reports > Math.ceil((this.window ?? Number.POSITIVE_INFINITY) / this.roundLength)) throw new ParameterError("collection.rounds", { must: "fit into collection.window" });
			this.owned = hasGroups(plan.shuffling);
			const shufflers = shufflersOf(plan.shufflers);
			this.shufflerKeys = shufflers.map(({ key }) => key);
			this.analyzerKey = publicKey("analyzer", plan.analyzer, ["publication"]);
			this.admission = admissionOf(plan.admission);
			const dummies = shufflers.map((shuffler) => shuffler.dummies);
			this.#requireShufflersFit(dummies);
			this.cost = costOf(this.#sent, dummies);
			this.#requireRoom();
			this.#requireEveryRound();
			if (this.owned && this.admission.by === "token") throw new ParameterError("admission.by", { must: "be \"credential\" with groups" });
			const differs = this.questions.length > 1 || this.asksByQuery;
			if (this.noise === "reused" && (differs || this.question(0).variesByBatch)) throw new ParameterError("participation.noise", { must: "be \"fresh\" for several questions, or where rounds differ in what they ask or how they hash" });
		}
		/** Read the plan in a text, if the text has the digest that the person agreed to. */
		static async read(canonical, digest) {
			if (hex(await sha256(utf8(canonical))) !== digest) throw new UntrustedError("the plan", "does not have the digest that was agreed to");
			const plan = table("plan", readJson(canonical), SECTIONS);
			oneOf("schema", plan.schema, [2]);
			const made = list("questions", plan.questions).map(mechanismOf).map(build);
			const questions = await Promise.all(made);
			const protocol = participation(table("participation", plan.participation, ROUNDS), questions.length);
			const several = await ofOneBatch(protocol, questions);
			return new Plan(canonical, digest, plan, questions, protocol, several);
		}
		/** The key that signs for the first shuffler, which clients send to. */
		get shufflerKey() {
			return this.shufflerKeys[0];
		}
		/** True if every person answers in every round, so that all rounds are alike. */
		get everybodyAnswers() {
			return ["single", ...ONE_BATCH].includes(this.protocol.model);
		}
		/** True if a round asks what the analyzer signs for it, after seeing the rounds before. */
		get asksByQuery() {
			const { adaptive, rounds } = this.protocol;
			return adaptive && rounds > 1 && this.questions.length === 1;
		}
		/** Return the question that a round asks: they take turns, but those of one batch are one. */
		questionIndex(roundNumber) {
			return this.several === void 0 ? roundNumber % this.questions.length : 0;
		}
		/** Return the randomizer that a client applies to its value in a round. */
		question(roundNumber) {
			return this.several ?? this.questions[this.questionIndex(roundNumber)];
		}
		/** Refuse shufflers and dummies for which nothing is proved. */
		#requireShufflersFit(dummies) {
			const adds = dummies.some((own) => own !== void 0);
			if (!adds && this.questions.some((own) => own.maxEpsilonLocal === Number.POSITIVE_INFINITY)) throw new ParameterError("mechanism", { must: "limit epsilon where no shuffler adds dummies: it may send the value itself" });
			if (!adds && dummies.length === 1) return;
			if (this.owned || !this.everybodyAnswers) throw new ParameterError("shufflers", { must: "be one, without dummies, where people are in groups or send nulls" });
			const bins = (this.several ?? this.questions[0]).alphabetSize;
			if (adds && (bins === void 0 || bins > MOST_BINS)) throw new ParameterError("shufflers.dummies", { must: `be for at most ${MOST_BINS} possible reports, as of plain or k-rr` });
		}
		/** True if a person's reports are made from one answer that the device keeps. */
		get keepsAnswer() {
			return this.questions.some((own) => own.permanent !== void 0);
		}
		/** Refuse windows and permanent answers where people do not answer every round alike. */
		#requireEveryRound() {
			const isPlain = this.everybodyAnswers && this.noise === "fresh";
			if (this.window !== void 0 && !isPlain) throw new ParameterError("collection.window", { must: "be left out where people do not answer every round with fresh noise" });
			if (this.keepsAnswer && !(isPlain && this.questions.length * this.protocol.rounds === 1)) throw new ParameterError("questions.mechanism", { must: "be another one where there are several questions or reused noise" });
		}
		/** The randomizers whose reports leave the device. */
		get #sent() {
			return this.several === void 0 ? this.questions : [this.several];
		}
		#requireRoom() {
			const longest = HEAD$1 + Math.max(...this.#sent.map(({ reportFormat }) => reportFormat.size));
			if (this.reportSize < longest) throw new ParameterError("protections.report_size", { must: `be at least ${longest}` });
		}
	};
}));
// src/protocol/superseded.ts
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
var day, POINTER, PARTS;
var init_superseded = __esmMin((() => {
	init_errors();
	init_json();
	init_plan();
	init_key_list();
	init_signed_document();
	day = (value) => typeof value === "string" && /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(value);
	POINTER = {
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
	PARTS = {
		schema_version: isWireVersion,
		plan: (value) => typeof value === "string",
		superseded: isTable
	};
}));
// src/client/exchange.ts
/**
* Send one request and return its answer; null if there is no complete one in time.
*
* Throws a CertificateError if the server's certificate cannot be trusted, where Node tells.
*/
async function ask(request, transport) {
	if (request.relay !== void 0) {
		if (transport.through !== void 0) return transport.through(request);
		throw new ParameterError("relay", { must: "be left out here" });
	}
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
	} catch (error) {
		const lasting = explain(error, url);
		if (lasting === null) return null;
		throw lasting;
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
/** Wait, with the transport's clock if it has one. */
async function pause(seconds, transport) {
	await (transport.sleep ?? sleep)(seconds);
}
async function sleep(seconds) {
	for (let left = seconds; left > 0; left -= LONGEST_TIMER) {
		const part = Math.min(left, LONGEST_TIMER);
		await new Promise((resolve) => setTimeout(resolve, 1e3 * part));
	}
}
var AGENT, TIMEOUT, LARGEST_ANSWER, LONGEST_TIMER, explain;
var init_exchange = __esmMin((() => {
	init_errors();
	AGENT = {
		"User-Agent": "croupier",
		"Accept-Encoding": "identity"
	};
	TIMEOUT = 30;
	LARGEST_ANSWER = 2 ** 20 + 32;
	LONGEST_TIMER = 2 ** 31 / 1e3 - 1;
	explain = () => null;
}));
// src/client/patience.ts
/**
* Repeat a request, byte for byte, while the server is silent or busy, and return the answer.
*
* Pauses double and have a random length, so that clients do not return together. Return null
* once the pauses would add up to more than so many seconds.
*/
async function askPatiently(request, seconds, transport) {
	let [waited, longest] = [0, FIRST_PAUSE];
	for (;;) {
		const answer = await ask(request, transport);
		if (answer !== null && !isBusy(answer)) return answer;
		const share = Number(operatingSystem.words(1)[0]) / 2 ** 64;
		const wait = Math.max(askedPause(answer), longest / 2 * (1 + share));
		waited += wait;
		if (waited > seconds) return null;
		await pause(wait, transport);
		longest = Math.min(2 * longest, LONGEST_PAUSE);
	}
}
/** Tell whether a server asks to come back later. */
function isBusy({ status }) {
	return status === 429 || status >= 500;
}
function askedPause(answer) {
	const text = answer?.retryAfter ?? "";
	return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}
var FIRST_PAUSE, LONGEST_PAUSE;
var init_patience = __esmMin((() => {
	init_keystream();
	init_exchange();
	FIRST_PAUSE = 1;
	LONGEST_PAUSE = 300;
}));
// src/client/enrolment.ts
init_superseded();
init_bytes();
init_errors();
init_patience();
/**
* Return the server with a credential; enrol the device first if it has none.
*
* Call it when the app is installed, for everybody: whoever enrols at the moment of answering shows
* the issuer that it answers. Throws a NotAdmittedError if the issuer does not admit the device.
*
* @param seconds The time for which a silent or busy issuer is asked again.
* @returns Null if the issuer does not answer; a later call sends the same bytes.
*/
async function admitted(client, server, seconds, transport = {}) {
	const { issuer } = server;
	if (issuer === void 0 || server.isAdmitted) return server;
	let known = await remembered(client, issuer);
	if (!known.credential) {
		const answer = await askPatiently(server.enrol(known.device), seconds, transport);
		if (answer === null) return null;
		if (answer.status !== 200) throw new NotAdmittedError(answer.status);
		known = await remembered(client, issuer, credentialIn(answer.body));
	}
	return server.admitting(String(known.credential));
}
/** Return what the memory has of this device, with the first credential that came. */
function remembered({ memory }, issuer, credential) {
	return memory.update(async ({ enrolled }) => {
		const known = enrolled[issuer] ?? { device: hex(crypto.getRandomValues(/* @__PURE__ */ new Uint8Array(32))) };
		const first = known.credential ?? credential;
		enrolled[issuer] = first === void 0 ? known : {
			...known,
			credential: first
		};
		return enrolled[issuer];
	});
}
function credentialIn(body) {
	try {
		const { credential, schema_version, ...rest } = JSON.parse(new TextDecoder().decode(body));
		if (schema_version === 1 && Object.keys(rest).length === 0 && typeof credential === "string" && /^[0-9a-f]{66}$/.test(credential)) return credential;
	} catch {}
	throw new UntrustedError("the issuer's answer", "is not a credential");
}
// src/client/fetching.ts
init_bytes();
init_errors();
init_exchange();
init_patience();
const A_MINUTE$1 = 60;
/** Tries of server and mirrors that differ; seconds in which an address shows what others show. */
const [TRIES, RENEWAL] = [2, 2];
const GONE$3 = 410;
/**
* Fetch a document from the server, then its mirrors; null if one does not answer.
*
* Ask all of them again if they differ, once no cache can be behind any longer. If they still do,
* return what they serve as it is; the client refuses it.
*/
async function fromEverywhere({ plan }, server, path, seconds, transport) {
	for (let left = TRIES;; left--) {
		const lists = [];
		for (const [place, request] of server.get(plan.digest, path).entries()) {
			const answer = await askPatiently(request, seconds, transport);
			if (answer === null) return null;
			const who = place === 0 ? "server" : "mirror";
			const what = path === "" ? "the plan" : "the round of the plan";
			lists.push(await offered(answer, plan.digest, {
				who,
				what
			}));
		}
		const [first] = lists;
		if (left === 1 || lists.every((list) => equal(list, first))) return lists;
		const kept = Math.min(Math.max(Math.floor(plan.roundLength / 100), 1), A_MINUTE$1);
		await pause(RENEWAL + kept, transport);
	}
}
/** Return the document in an answer; throw what the answer says if there is none. */
async function offered({ status, body }, digest, names = {}) {
	if (status === GONE$3) throw await supersededBy(body, digest);
	if (status !== 200) throw new NotOfferedError(status, names);
	return body;
}
// src/protocol/binary_http.ts
/** Write a request, with zeros up to a length; null if it is longer. */
function writeRequest(request, length) {
	const { protocol, host, pathname } = new URL(request.url);
	const control = [
		request.method,
		protocol.slice(0, -1),
		host,
		pathname
	].map(text);
	const fields = request.headers.flatMap(([name, value]) => [text(name), text(value)]);
	const written = concat(...[
		number(REQUEST),
		...control,
		prefixed(concat(...fields)),
		prefixed(request.body)
	], number(0));
	return written.length > length ? null : concat(written, new Uint8Array(length - written.length));
}
/** Read an answer; null if the bytes are none. */
function readResponse(data) {
	const reader = new Reader(data);
	try {
		if (reader.number() !== RESPONSE) return null;
		const status = reader.number();
		const fields = new Reader(reader.section());
		let retryAfter = null;
		while (!fields.isOver) {
			const [name, value] = [fields.prefixed(), fields.prefixed()].map(latin);
			if (name === "retry-after") retryAfter = value ?? null;
		}
		const body = reader.section();
		reader.section();
		return status >= 200 && status < 600 && reader.isPadding ? {
			status,
			retryAfter,
			body
		} : null;
	} catch (error) {
		if (error instanceof RangeError) return null;
		throw error;
	}
}
/** Write a number below 2^30 in as few bytes as possible. */
function number(value) {
	if (value < 64) return bigEndian(value, 1);
	return value < 2 ** 14 ? bigEndian(16384 + value, 2) : bigEndian(2147483648 + value, 4);
}
var REQUEST, RESPONSE, Reader, text, latin, prefixed;
var init_binary_http = __esmMin((() => {
	init_bytes();
	[REQUEST, RESPONSE] = [0, 1];
	Reader = class {
		data;
		#at = 0;
		constructor(data) {
			this.data = data;
		}
		get isOver() {
			return this.#at === this.data.length;
		}
		get isPadding() {
			return this.data.subarray(this.#at).every((byte) => byte === 0);
		}
		/** Read a section; empty ones may be missing at the end (RFC 9292, section 3.8). */
		section() {
			return this.isOver ? /* @__PURE__ */ new Uint8Array(0) : this.prefixed();
		}
		/** Read bytes after their number. */
		prefixed() {
			return this.#take(this.number());
		}
		/** Read a number of 1, 2, 4 or 8 bytes (RFC 9000, section 16). */
		number() {
			const [first] = this.#take(1);
			return this.#take(2 ** (first >> 6) - 1).reduce((value, byte) => 256 * value + byte, first & 63);
		}
		#take(size) {
			const taken = this.data.slice(this.#at, this.#at + size);
			if (taken.length < size) throw new RangeError();
			this.#at += size;
			return taken;
		}
	};
	text = (value) => prefixed(utf8(value));
	latin = (value) => String.fromCharCode(...value);
	prefixed = (data) => concat(number(data.length), data);
}));
// src/protocol/capsule.ts
/** Read the keys of a document that can be used here; none if it is no such document. */
function readConfigurations(data) {
	const found = [];
	for (let at = 0; at < data.length;) {
		const size = uint16(data, at);
		const entry = data.slice(at + 2, at + 2 + size);
		if (size === 0 || entry.length < size) return [];
		const read = configuration(entry);
		if (read !== null) found.push(read);
		at += 2 + size;
	}
	return found;
}
/** Read a key; null if it does not offer the suite that is spoken here. */
function configuration(entry) {
	const suites = entry.subarray(5 + KEY_SIZE);
	if (!(suites.length === uint16(entry, 3 + KEY_SIZE) && suites.length % 4 === 0) || !equal(entry.subarray(1, 3), KEM)) return null;
	for (let at = 0; at < suites.length; at += 4) if (equal(suites.subarray(at, at + 4), SUITE)) return {
		id: entry[0],
		key: entry.slice(3, 3 + KEY_SIZE)
	};
	return null;
}
function uint16(data, at) {
	return 256 * (data[at] ?? 0) + (data[at + 1] ?? 0);
}
/**
* Seal a request.
*
* @param ephemeral For tests only.
*/
async function sealRequest({ id, key }, request, ephemeral) {
	const head = concat(Uint8Array.of(id), KEM, SUITE);
	const sender = await hpkeSender(key, concat(utf8("message/bhttp request\0"), head), ephemeral).catch(() => {
		throw new UntrustedError("the gateway's key", "is no key that hides anything");
	});
	return {
		body: concat(head, sender.enc, await sender.seal(request)),
		opened: async (answer) => {
			const nonce = answer.slice(0, NONCE_SIZE);
			const secret = await sender.exported(utf8("message/bhttp response"), NONCE_SIZE);
			const random = await hmac(concat(sender.enc, nonce), secret);
			const [own, iv] = await Promise.all([hmac(random, concat(utf8("key"), Uint8Array.of(1))), hmac(random, concat(utf8("nonce"), Uint8Array.of(1)))]);
			const algorithm = {
				name: "AES-GCM",
				iv: iv.slice(0, 12)
			};
			const cipher = await crypto.subtle.importKey("raw", own.slice(0, 16), "AES-GCM", false, ["decrypt"]);
			try {
				const sealed = answer.slice(NONCE_SIZE);
				return new Uint8Array(await crypto.subtle.decrypt(algorithm, cipher, sealed));
			} catch {
				return null;
			}
		}
	};
}
var PATH, KEYS_PATH, REQUEST_TYPE, UNKNOWN_KEY, KEM, SUITE, KEY_SIZE, NONCE_SIZE;
var init_capsule = __esmMin((() => {
	init_bytes();
	init_errors();
	init_hpke();
	PATH = "/v1/ohttp";
	KEYS_PATH = "/v1/ohttp-keys";
	REQUEST_TYPE = "message/ohttp-req";
	UNKNOWN_KEY = "https://iana.org/assignments/http-problem-types#ohttp-key";
	KEM = fromHex("0020");
	SUITE = fromHex("00010001");
	[KEY_SIZE, NONCE_SIZE] = [32, 16];
}));
// src/protocol/gateway_keys.ts
/** Return the keys in a served document, if the newest intake key of the plan's shuffler signed. */
async function readGateway(data, plan) {
	const document = readDocument(GATEWAY.what, data);
	const parts = requireShape(GATEWAY.what, document, {
		keys: isTable,
		gateway: isTable
	});
	const keys = await shufflerKeys(parts.keys, plan);
	const signers = keys.intake.slice(-1).map(({ key }) => key);
	const signed = await verified(GATEWAY, parts.gateway, plan, signers);
	const listed = readConfigurations(fromHex(String(signed.configurations)));
	return {
		keys,
		version: Number(signed.version),
		has: ({ id, key }) => listed.some((each) => each.id === id && equal(each.key, key))
	};
}
var GATEWAY;
var init_gateway_keys = __esmMin((() => {
	init_bytes();
	init_json();
	init_capsule();
	init_party_keys();
	init_signed_document();
	GATEWAY = {
		what: "the list of the gateway's keys",
		purpose: "gateway",
		entries: {
			...COMMON$1,
			kind: exactly$1("gateway"),
			version: whole$1(1, 2 ** 32 - 1),
			configurations: (value) => typeof value === "string" && /^(?:[0-9a-f]{2})+$/.test(value)
		}
	};
}));
// src/client/oblivious.ts
var oblivious_exports = /* @__PURE__ */ __exportAll({ Relay: () => Relay });
/** Return the length of all requests of a plan before they are sealed: a power of two. */
function requestLength({ reportSize, owned, shufflerKeys }) {
	const size = HEAD + envelopeLength({
		reportSize,
		owned,
		onward: shufflerKeys.slice(1)
	});
	return Math.max(LEAST_LENGTH, 2 ** Math.ceil(Math.log2(size)));
}
/** Tell whether an answer is the problem that RFC 9458, section 5.3, defines. */
function isAboutTheKey(body) {
	try {
		return JSON.parse(new TextDecoder().decode(body)).type === UNKNOWN_KEY;
	} catch {
		return false;
	}
}
var LEAST_LENGTH, HEAD, UnknownKeyError, Relay;
var init_oblivious = __esmMin((() => {
	init_errors();
	init_binary_http();
	init_capsule();
	init_gateway_keys();
	init_signed_document();
	init_superseded();
	init_wire();
	init_exchange();
	init_patience();
	LEAST_LENGTH = 4096;
	HEAD = 2048;
	UnknownKeyError = class extends CroupierError {
		constructor() {
			super("The gateway does not have this key.");
		}
	};
	Relay = class {
		client;
		address;
		transport;
		#key;
		constructor(client, address, transport) {
			this.client = client;
			this.address = address;
			this.transport = transport;
		}
		/**
		* Return the shuffler's answer to a request; null if none came, or none that opens.
		*
		* If the gateway has replaced its keys, fetch them anew and ask once more.
		*/
		async ask(request) {
			for (let left = 2; left > 0; left--) try {
				return await this.#ask(request);
			} catch (error) {
				if (!(error instanceof UnknownKeyError)) throw error;
				this.#key = void 0;
			}
			return null;
		}
		async #ask(request) {
			if (this.#key === void 0) {
				const found = await this.#believedKey(new URL(request.url).origin);
				if (found === null || "status" in found) return found;
				this.#key = found;
			}
			return this.#exchange(this.#key, request);
		}
		/**
		* Fetch the gateway's keys and return the newest, if the shuffler has signed it.
		*
		* Return an answer instead that nobody need believe: that the service is busy, does not have the
		* plan, or has a pointer to its successor, which is signed by the root.
		*/
		async #believedKey(origin) {
			const shown = await ask({
				method: "GET",
				url: `${this.address}${KEYS_PATH}`,
				headers: AGENT
			}, this.transport);
			if (shown?.status !== 200) return shown !== null && isBusy(shown) ? shown : null;
			const [key] = readConfigurations(shown.body);
			if (key === void 0) return null;
			const url = `${origin}/v1/plans/${this.client.plan.digest}/gateway`;
			const signed = await this.#exchange(key, {
				method: "GET",
				url,
				headers: AGENT
			});
			if (signed === null || signed.status === 404 || isBusy(signed)) return signed;
			if (signed.status === 410 && isPointer(signed.body)) return signed;
			return signed.status === 200 ? this.#believed(signed.body, key) : null;
		}
		/** Return the key; null if the document is older than one that was seen. */
		async #believed(signed, key) {
			const { plan, memory } = this.client;
			const { keys, version, has } = await readGateway(signed, plan);
			if (await memory.update(async (state) => {
				requireNotBefore("the list of the shuffler's keys", keys, state.listed[plan.digest]);
				if (version < (state.gateways[plan.digest] ?? 0)) return true;
				state.gateways[plan.digest] = version;
				return false;
			})) return null;
			if (has(key)) return key;
			throw new UntrustedError(GATEWAY.what, "does not have the key that the relay shows");
		}
		async #exchange(key, request) {
			const { plan } = this.client;
			const headers = Object.entries(request.headers).filter(([name]) => !(name in AGENT)).map(([name, value]) => [name.toLowerCase(), value]);
			const body = request.body ?? /* @__PURE__ */ new Uint8Array(0);
			const written = writeRequest({
				...request,
				headers,
				body
			}, requestLength(plan));
			if (written === null) throw new ParameterError("credential", { must: "be shorter, to fit into one request" });
			const sealed = await sealRequest(key, written);
			const answer = await ask({
				method: "POST",
				url: `${this.address}${PATH}`,
				headers: {
					...AGENT,
					"Content-Type": REQUEST_TYPE
				},
				body: sealed.body
			}, this.transport);
			if (answer === null || isBusy(answer)) return answer;
			if (answer.status !== 200) {
				if (isAboutTheKey(answer.body)) throw new UnknownKeyError();
				return null;
			}
			const opened = await sealed.opened(answer.body);
			return opened && readResponse(opened);
		}
	};
}));
// src/client/through.ts
init_errors();
/**
* Return the transport of a conversation: through the server's relay if it has one.
*
* What seals requests for a relay is imported then, so that no other page loads it.
*/
async function through(client, { relay }, transport) {
	const { admission } = client.plan;
	if (relay === void 0) {
		if (admission.relay === void 0) return transport;
		throw new ParameterError("relay", { must: `be given: reports of this plan come through the relay of ${admission.relay}` });
	}
	const { Relay } = await Promise.resolve().then(() => (init_oblivious(), oblivious_exports));
	const exchanges = new Relay(client, relay, transport);
	return {
		...transport,
		through: (request) => exchanges.ask(request)
	};
}
// src/client/fetch_token.ts
init_bytes();
init_errors();
init_token_keys();
init_patience();
/** Seconds for which a silent or busy server is asked again; then the next call does. */
const PATIENCE$1 = 30;
const GONE$2 = 410;
const HELD = "the token of the next round is held";
/**
* Fetch the token of the next round, at once, unless the memory holds it.
*
* `submit` does so by itself. A page that prepares reports calls this once per round, for
* everybody, at a random time (`client.tokenDelay()`) that depends neither on the value nor on
* whether the person answers. Throws as `submit` does; after "no answer in time" and "the issuer
* gives no tokens for the round now" a later call sends the same bytes.
*/
async function fetchToken(client, address, direct = {}) {
	const { plan, memory } = client;
	if (plan.admission.by !== "token") throw new ParameterError("admission.by", { must: "be \"token\" to fetch tokens" });
	requireIssuer(plan, address);
	const transport = await through(client, address, direct);
	const server = await admitted(client, address, PATIENCE$1, transport);
	const lists = server && await fromEverywhere(client, server, "", PATIENCE$1, transport);
	if (server === null || lists === null) return "no answer in time";
	const { tokens, newest } = await client.followed(lists);
	const round = newest === null ? tokens?.first ?? 0 : newest + 1;
	const key = tokens && await tokenKeyOf(tokens, round);
	if (key === null) return "the issuer has no key for the next round yet";
	const { request } = await memory.update((state) => begin(state, plan, key, round));
	if (request == null) return HELD;
	const answer = await askPatiently(server.askForToken(plan.digest, round, fromHex(request)), PATIENCE$1, transport);
	if (answer === null) return "no answer in time";
	if (answer.status !== 200) return answer.status === GONE$2 ? "the issuer gives no tokens for the round now" : "refused";
	await memory.update((state) => finish(state, plan, key, round, answer.body));
	return HELD;
}
/** Refuse an address without an issuer if the plan admits by token. */
function requireIssuer({ admission }, { issuer }) {
	if (admission.by === "token" && issuer === void 0) throw new ParameterError("issuer", { must: "be given: the plan admits by token" });
}
// src/client/conversation.ts
init_errors();
init_plan();
init_key_list();
init_superseded();
init_exchange();
init_patience();
const EXPIRED = "no answer in time";
const CLOSED = "the batch was closed";
const NO_TOKEN = "no token for this round";
const ABSENT = "not this person's turn";
const A_MINUTE = 60;
const [NOT_FOUND, GONE$1] = [404, 410];
/**
* Fetch the plan of a digest, from a server that need not be trusted with it.
*
* Throws as `submit` does if the plan was superseded or is not offered. The server sees who asks: a
* client that goes through a relay has its plan from the app, and reads it with `Plan.read`.
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
* does not have the plan, a CertificateError if Node says that its certificate is not trusted, and a
* NotAdmittedError if the issuer does not admit the device.
*
* If the plan admits by token, also fetch the token of the next round, before or after: both times
* are drawn at the beginning, and neither depends on the other or on the outcome. Asking the issuer
* must not show who answers, nor when.
*
* @param value The person's value, or a function of the question if rounds ask by query.
*/
async function submit(client, value, server, { roundNumber, ...transport } = {}) {
	requireIssuer(client.plan, server);
	if (client.plan.admission.by !== "token") return takePart(client, value, server, roundNumber, transport);
	const fetching = new Fetching(client, server, transport);
	const ended = await takePart(client, value, server, roundNumber, {
		...transport,
		sleep: (seconds) => fetching.sleep(seconds)
	}).catch((error) => error);
	const couldNotAnswer = [
		BudgetError,
		DataError,
		ParameterError
	].some((kind) => ended instanceof kind);
	if (ended instanceof Error && !couldNotAnswer) throw ended;
	await fetching.end();
	if (ended instanceof Error) throw ended;
	return ended;
}
/** The fetching of a token at a time of its own, however long anything else takes. */
var Fetching = class {
	client;
	server;
	transport;
	#at;
	#beginning;
	#least = 0;
	#isOver = false;
	#error;
	constructor(client, server, transport) {
		this.client = client;
		this.server = server;
		this.transport = transport;
		this.#at = client.tokenDelay();
		this.#beginning = client.clock();
	}
	/** Wait, and fetch the token in between if it is time. */
	async sleep(seconds) {
		const until = this.#passed() + seconds;
		if (!this.#isOver && until >= this.#at) await this.#fetch();
		await this.#until(until);
	}
	/** Fetch the token if it was not fetched; throw what the issuer did wrong. */
	async end() {
		if (!this.#isOver) await this.#fetch();
		if (this.#error !== void 0) throw this.#error;
	}
	async #fetch() {
		this.#isOver = true;
		await this.#until(this.#at);
		try {
			await fetchToken(this.client, this.server, this.transport);
		} catch (error) {
			this.#error = error;
		}
	}
	/** The seconds since the beginning: by the clock, which may be set back, and no less than the waits. */
	#passed() {
		return Math.max(this.#least, this.client.clock() - this.#beginning);
	}
	async #until(seconds) {
		const passed = this.#passed();
		this.#least = Math.max(passed, seconds);
		await pause(this.#least - passed, this.transport);
	}
};
/** Send this round's report, and once more if its batch was closed. */
async function takePart(client, value, address, roundNumber, direct) {
	const transport = await through(client, address, direct);
	const seconds = client.plan.roundLength;
	const server = await admitted(client, address, seconds, transport);
	if (server === null) return EXPIRED;
	const served = await serve(client, server, roundNumber, seconds, transport);
	if (served === null) return EXPIRED;
	const submission = await reported(client, value, served);
	if (submission === null) return ABSENT;
	if (typeof submission === "string") return submission;
	const sent = await send(client, server, submission, transport);
	if (sent.outcome !== "the batch was closed") return sent.outcome;
	const keyLists = await fromEverywhere(client, server, "", seconds, transport);
	if (keyLists === null) return sent.outcome;
	const refused = {
		submission,
		refusal: sent.body,
		authorization: sentAs(server, submission)
	};
	const again = await client.reseal(refused, { keyLists });
	return again === null ? sent.outcome : (await send(client, server, again, transport)).outcome;
}
/** Return the round's report; null if it is not this person's turn; an outcome without a token. */
async function reported(client, value, served) {
	try {
		return await client.report(value, served);
	} catch (error) {
		if (error instanceof NoTokenError) return NO_TOKEN;
		throw error;
	}
}
/** Return the Authorization header that a report is sent with. */
function sentAs(server, { spent }) {
	return spent?.authorization ?? server.authorization();
}
/**
* Fetch the key lists and, if rounds ask by query, the documents of the round.
*
* Return null if an address is silent or busy for so many seconds.
*/
async function serve(client, server, roundNumber, seconds, transport) {
	const keyLists = await fromEverywhere(client, server, "", seconds, transport);
	if (keyLists === null) return null;
	const served = roundNumber === void 0 ? { keyLists } : {
		keyLists,
		roundNumber
	};
	if (!client.plan.asksByQuery) return served;
	const rounds = await fromEverywhere(client, server, `/rounds/${await client.chosenRound(served)}`, seconds, transport);
	return rounds && {
		...served,
		rounds
	};
}
async function send(client, server, submission, transport) {
	await pause(submission.delay, transport);
	return post(client, server, submission, client.plan.roundLength, transport);
}
/** Send a report, again for so many seconds, and remember if a prepared one was accepted. */
async function post(client, server, submission, seconds, transport) {
	const missing = {
		status: 0,
		body: /* @__PURE__ */ new Uint8Array(0)
	};
	if (!(client.plan.admission.by !== "token" || submission.spent != null)) return {
		outcome: NO_TOKEN,
		...missing
	};
	const answer = await askPatiently(server.post(submission), seconds, transport);
	if (answer === null) return {
		outcome: EXPIRED,
		...missing
	};
	const { status, body } = answer;
	if (status === GONE$1 && isPointer(body)) throw await supersededBy(body, client.plan.digest);
	if (status === NOT_FOUND) throw new NotOfferedError(status);
	const known = {
		202: "accepted",
		409: CLOSED
	};
	if (status === 202 && submission.due !== void 0) await client.settle(submission, true);
	return {
		outcome: known[status] ?? "refused",
		status,
		body
	};
}
// src/client/forward.ts
/** Seconds for which a silent or busy server is asked again; then the next call does. */
const PATIENCE = 30;
const GONE = 410;
/**
* Randomise, seal and store a report with the time at which it is due, and send nothing.
*
* A report that waits already, for a batch that is still open, stays as it is, whatever the value
* is by then. Throws as `submit` does. If the plan admits by token, call `fetchToken` as well, at a
* time of its own.
*
* @param value The person's value, or a function of the question if rounds ask by query.
* @returns The report that waits; "not this person's turn"; "nothing to send" if the round's report
*   was delivered before; "no answer in time"; "no token for this round".
*/
async function prepare(client, value, server, { roundNumber, ...direct } = {}) {
	requireIssuer(client.plan, server);
	const transport = await through(client, server, direct);
	const enrolled = await admitted(client, server, PATIENCE, transport);
	const served = enrolled && await serve(client, enrolled, roundNumber, PATIENCE, transport);
	if (served === null) return EXPIRED;
	const made = await reported(client, value, {
		...served,
		isPrepared: true
	});
	if (made === null) return "not this person's turn";
	if (typeof made === "string") return made;
	const { due, isReplacing = false } = made;
	return due === void 0 ? "nothing to send" : {
		roundNumber: made.roundNumber,
		due,
		isReplacing
	};
}
/**
* Send the prepared report if its time has come, and remember what became of it.
*
* Throws as `submit` does; the report then stays stored.
*
* @returns "waiting for its time" before it (`client.due()` are the seconds left), also if the batch
*   was closed and the report is sealed for the next one; "nothing to send" if nothing is prepared.
*   After "no answer in time" and "refused" the next call sends it again, after "accepted" and "the
*   batch was closed" none does.
*/
async function deliver(client, address, direct = {}) {
	const transport = await through(client, address, direct);
	const submission = await client.waiting();
	if (submission === null) return "nothing to send";
	if (submission.delay > 0) return "waiting for its time";
	const server = client.plan.admission.by === "token" ? address : await admitted(client, address, PATIENCE, transport);
	if (server === null) return EXPIRED;
	const { outcome, status, body } = await post(client, server, submission, PATIENCE, transport);
	if (outcome === "the batch was closed") {
		const keyLists = await fromEverywhere(client, server, "", PATIENCE, transport);
		if (keyLists === null) return EXPIRED;
		const refused = {
			submission,
			refusal: body,
			authorization: sentAs(server, submission)
		};
		if (await client.reseal(refused, { keyLists }) !== null) return "waiting for its time";
	} else if (outcome === "no token for this round") {
		await client.settle(submission, false);
		return outcome;
	} else if (status !== GONE) return outcome;
	await client.settle(submission, false);
	return CLOSED;
}
// src/client/local_storage_state.ts
init_errors();
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
init_bytes();
init_errors();
init_json();
init_exchange();
const LOOPBACK = [
	"127.0.0.1",
	"[::1]",
	"localhost"
];
var Server = class Server {
	#address;
	#urls;
	/** The issuer's address. */
	issuer;
	/** The relay's address. */
	relay;
	constructor(address) {
		const { url, credential, mirrors = [], insecureHttp = false, issuer, proof = "" } = address;
		this.#address = address;
		this.#urls = [url, ...mirrors].map((entry) => origin("url", entry, insecureHttp));
		this.issuer = issuer && origin("issuer", issuer, insecureHttp);
		const { relay } = address;
		this.relay = relay === void 0 ? relay : origin("relay", relay, insecureHttp);
		if (this.relay !== void 0 && new URL(this.relay).origin === new URL(url).origin) throw new ParameterError("relay", { must: "be another address than the shuffler's" });
		if (this.relay !== void 0 && mirrors.length > 0) throw new ParameterError("mirrors", { must: "be left out with a relay: they would see the address that it hides" });
		if (credential === void 0 && issuer === void 0) throw new ParameterError("credential", { must: "be given, or an issuer" });
		if (!/^[ -~]+$/.test(credential ?? "-")) throw new ParameterError("credential", { must: "be printable ASCII" });
		if (!/^[ -~]{0,4096}$/.test(proof)) throw new ParameterError("proof", { must: "be at most 4096 characters of printable ASCII" });
	}
	/** Return the same address with the credential that its issuer gave. */
	admitting(credential) {
		const { proof, ...address } = this.#address;
		return new Server({
			...address,
			credential
		});
	}
	/** True if there is a credential. */
	get isAdmitted() {
		return this.#address.credential !== void 0;
	}
	/** Return the header that admits the sender; a method, so that printing does not show it. */
	authorization() {
		const { credential } = this.#address;
		if (credential === void 0) throw new ParameterError("credential", { must: "be given" });
		return `Bearer ${credential}`;
	}
	/** Ask the issuer for the credential of a device. */
	enrol(device) {
		const { proof = "" } = this.#address;
		const headers = {
			...AGENT,
			"Content-Type": "application/json"
		};
		const body = utf8(canonical({
			device,
			proof,
			schema_version: 1
		}));
		return {
			method: "POST",
			url: `${this.issuer}/v1/enrol`,
			headers,
			body
		};
	}
	/** Ask for the key list of a plan, or a document below it: here, then on every mirror. */
	get(plan, path = "") {
		return this.#urls.map((url) => ({
			method: "GET",
			url: `${url}/v1/plans/${plan}${path}`,
			headers: AGENT,
			...this.#via()
		}));
	}
	/** Ask the issuer to sign the blinded token of a round. */
	askForToken(plan, round, body) {
		const headers = {
			...AGENT,
			"Content-Type": "application/private-token-request",
			Authorization: this.authorization()
		};
		return {
			method: "POST",
			url: `${this.issuer}/v1/plans/${plan}/rounds/${round}/token`,
			headers,
			body
		};
	}
	/** Send envelopes; the token admits them if there is one, else the credential. */
	post({ plan, batch, body, spent }) {
		const headers = {
			...AGENT,
			"Content-Type": "application/octet-stream",
			"Croupier-Batch": batch,
			Authorization: spent?.authorization ?? this.authorization(),
			...spent && { "Croupier-Proof": spent.proof }
		};
		return {
			method: "POST",
			url: `${this.#urls[0]}/v1/plans/${plan}/reports`,
			headers,
			body,
			...this.#via()
		};
	}
	#via() {
		return this.relay === void 0 ? {} : { relay: this.relay };
	}
};
function origin(name, url, insecureHttp) {
	const { protocol, hostname } = URL.canParse(url) ? new URL(url) : {
		protocol: "",
		hostname: ""
	};
	if ((protocol === "https:" || LOOPBACK.includes(hostname) || insecureHttp) && ["http:", "https:"].includes(protocol)) return url.replace(/\/+$/, "");
	throw new ParameterError(name, { must: "begin with https://" });
}
// src/index.ts
init_errors();
init_keystream();
init_plan();
init_errors();
export { BudgetError, CertificateError, Client, CroupierError, DataError, LocalStorageState, MalformedReportError, MemoryState, NoTokenError, NotAdmittedError, NotOfferedError, ParameterError, Plan, Server, StateError, SupersededError, UntrustedError, admitted, deliver, fetchToken, loadPlan, operatingSystem, prepare, submit };
