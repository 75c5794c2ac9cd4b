// The page with two shufflers: its words, and what each party sees.
const at = (id) => document.getElementById(id);
const whole = (number) => number.toLocaleString("en");
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

const WORDS = {
  lead: "Clients seal their answers, two shufflers in a row mix them and add dummies, an analyzer estimates.",
  verb: "Seal and send",
  stays:
    "It leaves this page only under three seals. In this demo one machine plays every party and " +
    "could open all of them; in a real collection nobody can.",
  drawn: "Without noise, the report says",
  showing: "",
  times: "three times",
  unknown: "",
  openers:
    "The first shuffler opens the outer seal, the second shuffler the next one, the analyzer the last one.",
};

document.body.classList.add("two");
for (const [id, words] of Object.entries(WORDS)) at(id).textContent = words;

/** Write a party's words once, and the rows of its table. */
function show(party, words, rows) {
  if (at(`${party}-words`).textContent === words) return false;
  at(`${party}-words`).textContent = words;
  const body = at(`${party}-rows`);
  body.replaceChildren();
  for (const cells of rows) {
    const row = body.insertRow();
    cells.forEach((entry, place) => {
      const cell = row.insertCell();
      if (entry.sealed) cell.append(Object.assign(document.createElement("code"), { textContent: entry.sealed }));
      else cell.textContent = entry;
      if (place && !entry.sealed) cell.className = "n";
    });
  }
  body.parentElement.hidden = false;
  return true;
}

const made = (dummies) =>
  `It adds ${whole(sum(dummies))} dummies, of the answers 0 to 9: ${dummies.join(", ")}.`;

function first({ rows, bytes, dummies }, received) {
  const words =
    `It knows who sent each of ${whole(received)} reports. Each is ${bytes} bytes, sealed to two ` +
    "more parties.";
  const shown = rows.map(({ sender, sealed }) => [sender, { sealed }]);
  if (show("first", words, shown)) at("first-dummies").textContent = made(dummies);
}

function second({ rows, received, bytes, dummies }) {
  const words =
    `It gets ${whole(received)} rows of ${bytes} bytes in a new order, sealed to the analyzer too. ` +
    "It cannot tell people from the first one's dummies.";
  const shown = rows.map(({ sealed }) => ["unknown", { sealed }]);
  if (show("second", words, shown)) at("second-dummies").textContent = made(dummies);
}

function analyzer({ rows, expected, people }) {
  const words =
    `It opens ${whole(sum(rows))} rows: answers of people and dummies of both shufflers, mixed. It ` +
    "subtracts the dummies that are to be expected.";
  const shown = rows.map((count, answer) => [answer, count, expected, people[answer]]);
  show("analyzer", words, shown);
}

function one({ visitor, guesses, limits }) {
  const whose = visitor ? "your report" : "the report of one simulated person";
  const words =
    "They know everybody else's answers, and the dummies of the other shuffler, and subtract " +
    `both. Left are the honest shuffler's dummies, and ${whose}.`;
  const [one, other] = guesses.map(({ left }) => left);
  const fresh = show("one", words, one.map((count, answer) => [answer, count, other[answer]]));
  if (!fresh) return;
  const sure = guesses.map(
    ({ guess, chance }) => `${guess} (${(100 * chance).toFixed(1)} % sure)`,
  );
  at("one-guess").textContent =
    `Their best guess: ${sure[0]} if the first one is honest, ${sure[1]} if the second one is.`;
  at("one-proved").textContent =
    `Proved: right at most ${limits}, on average over many runs; in one run they may be surer.`;
}

document.addEventListener("state", ({ detail: state }) => {
  if (state.first) first(state.first, state.received);
  if (state.second) second(state.second);
  if (state.analyzer) analyzer(state.analyzer);
  if (state.one) one(state.one);
});
