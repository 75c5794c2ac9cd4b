// The visitor's part of the page: run the client that any page would load, and show what it does.
import { Client, LocalStorageState, loadPlan, Server, submit } from "./client.js";

const ENDS = 12; // bytes of the envelope that are shown, at its start and at its end
const at = (id) => document.getElementById(id);
const whole = (number) => number.toLocaleString("en");
const percent = (share) => `${(100 * share).toFixed(1)} %`;
const cups = (value) => (value === 9 ? "9 or more" : String(value));
const form = at("form");
const button = form.querySelector("button");
const seen = {}; // what the client drew and sent, known to this page alone
let sending = false;
let trouble = "";

for (let value = 0; value < 10; value += 1) {
  const [label, input, face] = ["label", "input", "span"].map((tag) => document.createElement(tag));
  Object.assign(input, { type: "radio", name: "cups", value, required: true });
  input.setAttribute("aria-label", cups(value));
  face.textContent = value === 9 ? "9+" : value;
  label.append(input, face);
  at("tiles").append(label);
}

const PAST = {
  answered: "Your answer is recorded. It was not stored here, so this page cannot show it again.",
  missed: "The batch was released without your answer. Start the demo again to take part.",
};

const hex = (bytes) => {
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.match(/.{8}/g).join(" ");
};

// Record what the client draws and sends, without changing it.
function watched(plan) {
  const question = plan.question(0);
  const randomize = question.randomize.bind(question);
  question.randomize = async (...given) => {
    const report = await randomize(...given);
    seen.report = Number(report[0]);
    return report;
  };
  return {
    fetch(url, request) {
      if (request.method === "POST") seen.body = request.body;
      return fetch(url, request);
    },
  };
}

async function takePart(value) {
  const visit = await (await fetch("visit.json")).json();
  const server = new Server({ url: location.origin, credential: visit.credential });
  const plan = await loadPlan(visit.plan, server);
  const memory = new LocalStorageState(`croupier demo ${visit.plan}`);
  // Everybody here sends at once; a real client spreads its sending times.
  const client = new Client(plan, { attribute: "cups", budget: 10, memory, spread: 0 });
  const outcome = await submit(client, value, server, watched(plan));
  if (outcome !== "accepted") throw new Error(`${outcome}.`);
  return visit;
}

function tell(value, { kept, changed }) {
  const { report, body } = seen;
  if (report === undefined) return; // it was drawn before the page was reloaded
  at("own").textContent = cups(value);
  at("said").textContent = cups(report);
  at("law").textContent =
    kept === 1
      ? "The shufflers hide it among dummies, reports of every answer that they make up."
      : `An answer stays what it is with a chance of ${percent(kept)} ` +
        `and becomes each other one with ${percent(changed)}.`;
  at("size").textContent = body.length;
  const left = whole(body.length - 2 * ENDS);
  at("sealed").textContent =
    `${hex(body.subarray(0, ENDS))} … ${left} bytes … ${hex(body.subarray(-ENDS))}`;
  form.hidden = true;
  at("way").hidden = false;
}

function follow(state) {
  const open = state.visit === "open";
  button.disabled = sending || !open;
  if (open && !sending) {
    const left = state.seconds_left;
    const wait = left
      ? `Everybody else has answered. Release in ${left} s, or as soon as you answer.`
      : "The release waits for you.";
    at("turn").textContent = trouble || wait;
  }
  if (!at("way").hidden) locate(state);
  else if (!sending && PAST[state.visit]) {
    form.hidden = true;
    at("past").hidden = false;
    at("past").textContent = PAST[state.visit];
  }
}

// Show where the report is, and among how many.
function locate({ received, reports, shufflers }) {
  const rows = shufflers ? reports?.reduce((total, count) => total + count) : received;
  const kind = shufflers ? "rows" : "reports";
  at("place").textContent = reports
    ? "It was released with the others, in a new order, without a sender."
    : `It is one of ${whole(received)} reports in the batch.`;
  at("fate").textContent = reports
    ? `${whole(reports[seen.report])} of ${whole(rows)} ${kind} say ${cups(seen.report)}, as ` +
      `yours does. Nothing in the batch shows which one is yours${shufflers ? ", or a dummy" : ""}.`
    : "The order of arrival is not stored.";
}

document.addEventListener("state", ({ detail }) => follow(detail));

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const value = Number(new FormData(form).get("cups"));
  sending = button.disabled = true;
  trouble = "";
  at("turn").textContent = "Sending …";
  try {
    tell(value, await takePart(value));
    at("place").textContent = "It was acknowledged.";
  } catch (error) {
    trouble = `Your report was not acknowledged: ${error.message} Try again.`;
    at("turn").textContent = trouble;
  } finally {
    sending = false;
  }
});
