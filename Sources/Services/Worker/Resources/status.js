// Asks /status every two seconds, and /fleet every ten, while somebody sees the page.
const shape = 1, interval = 2000, timeout = 10000, fleetInterval = 10000, fleetTimeout = 45000;
const outcomes = ["minted", "superseded", "skipped", "deferred", "dead_lettered"];
const nothing = { ended: 0, minted: 0, dead_lettered: 0 };
// The effects of findings, from the worst on: each with its word and mark.
const effects = { fails: ["does not work", "act"], degraded: ["degraded", "act"], paused: ["paused", "held"], unknown: ["unknown", "unit"] };
let fleetVerdict = { findings: [], more: 0 };
let token = "", report = null, seen = null, timer = 0, turn = 0, fleetDue = 0, isAskingFleet = false;

const show = {
  letters: table("letters", [
    { label: "Code", kind: "name code" }, { label: "Last hour", unit: "dead letters", card: "dead letters", kind: "n" }, { label: "Meaning", card: "", kind: "words" }
  ]),
  lanes: table("lanes", [
    { label: "Lane", kind: "name" }, { label: "Consumed", unit: "events/s", card: "events/s", kind: "n", hint: "Events that this worker consumes, mean of ten seconds" },
    { label: "Lag", unit: "events", card: "lag, events", kind: "n", hint: "Events of this worker's partitions that have not finished" },
    { label: "Oldest", unit: "in work", card: "oldest in work", kind: "n", hint: "Age of the oldest event that this worker consumed and has not finished" },
    { label: "Latency p50", unit: "last minute", card: "latency p50", kind: "n", hint: "Half of the events were faster, from production to visible outcome" },
    { label: "Latency p99", unit: "last minute", card: "latency p99", kind: "n", hint: "99 of 100 events were faster, from production to visible outcome" },
    { label: "Queued", unit: "events", card: "queued", kind: "n", hint: "Events that this worker has consumed and not begun" }, { label: "Partitions", card: "partitions", kind: "n" }
  ]),
  apps: table("apps", [
    { label: "App", kind: "name" }, { label: "State", kind: "words" }, { label: "Events/min", unit: "last minute", card: "events/min, 1\u00a0min", kind: "n", hint: "Events that finished, mean of one minute" },
    { label: "Events/min", unit: "15 minutes", card: "events/min, 15\u00a0min", kind: "n", hint: "Events that finished, mean of 15 minutes" }, { label: "Minted", unit: "tokens", card: "tokens", kind: "n", hint: "Tokens published since the worker's start" },
    { label: "Superseded", unit: "events", card: "superseded", kind: "n wide", hint: "Answered by a newer token, since the worker's start" }, { label: "Skipped", unit: "events", card: "skipped", kind: "n wide", hint: "Since the worker's start" },
    { label: "Deferred", unit: "events", card: "deferred", kind: "n wide", hint: "Sent to a retry tier, since the worker's start" }, { label: "Dead letters", unit: "last hour", card: "dead letters, 1\u00a0h", kind: "n", hint: "Dead letters of the last hour; their codes are below the app's name" },
    { label: "Dead letters", unit: "total", card: "dead letters, total", kind: "n", hint: "Dead letters since the worker's start" }
  ]),
  keys: table("keys", [
    { label: "Key ring", kind: "name" }, { label: "Version", kind: "words" }, { label: "State", kind: "words" }, { label: "Algorithm", kind: "words" }, { label: "Age", card: "age", kind: "n" }, { label: "Signs until", card: "signs until", kind: "n" }
  ], 10),
  campaigns: table("campaigns", [
    { label: "Key ring", kind: "name" }, { label: "From", kind: "words" }, { label: "To", kind: "words" }, { label: "Phase", kind: "words" }, { label: "Begun", card: "begun", kind: "n" }
  ]),
  lookups: table("lookups", [
    { label: "Account", kind: "name" }, { label: "Circuit", kind: "words" }, { label: "Queued", unit: "users", card: "users queued", kind: "n" }, { label: "In flight", unit: "requests", card: "requests in flight", kind: "n" }
  ])
};
const total = counts => outcomes.reduce((sum, name) => sum + counts[name], 0);
const perMinute = (recent, seconds) => seconds > 0 ? rate(recent.ended * 60 / seconds) : unknown;

// Since when something waits, until when, by whose order and why.
function hold({ since: begun, until, by, why, users }, now) {
  const parts = ["for ", since(begun, now)];
  if (until) parts.push(", ends ", moment(until, now));
  if (by) parts.push(", by ", name(by));
  if (users && !why) parts.push(", " + noun(users, "user") + " refused");
  if (why) parts.push(": " + why);
  return parts;
}
const appHold = (app, now) => hold({ since: app.suspended_since, until: app.suspended_until, by: app.by, why: app.why, users: app.refusing_users }, now);

// A quarter of an hour of dead letters is a reason to act; older ones are only counted.
const alarm = (text, recent) => recent ? { text, class: "act" } : text;
const letters = codes => Object.entries(codes).sort((a, b) => b[1] - a[1])
  .map(([name, n]) => ({ class: "more", parts: [code(name), " " + noun(n, "dead letter")] }));

function appRow(name, [title, state], { outcomes, recent = {}, dead_letters }, windows) {
  const { minute = nothing, quarter_hour: quarter = nothing, dead_letters: dead = {} } = recent, hour = Object.values(dead).reduce((sum, n) => sum + n, 0);
  return { name, cells: [
    [...title, ...letters(dead)], state, perMinute(minute, windows.minute.seconds), perMinute(quarter, windows.quarter_hour.seconds),
    ...["minted", "superseded", "skipped", "deferred"].map(outcome => count(outcomes[outcome])),
    [alarm(count(hour), quarter.dead_lettered)], { text: count(outcomes.dead_lettered), title: Object.entries(dead_letters || {}).map(([code, n]) => code + " " + count(n)).join(", ") || undefined }
  ] };
}

function showApps() {
  const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean), { recent, unattributed, at } = report;
  const isMeant = app => {
    const text = [app.app, app.adapter, app.key_ring, app.key_version || "", app.state].join(" ").toLowerCase();
    return words.every(word => text.includes(word));
  };
  const hour = app => Object.values(app.recent && app.recent.dead_letters || {}).reduce((sum, n) => sum + n, 0), rank = { suspended: 0, paused: 1, active: 2 };
  const order = (a, b) => (rank[a.state] ?? 0) - (rank[b.state] ?? 0) || hour(b) - hour(a) || total(b.outcomes) - total(a.outcomes) || byName(a.app, b.app);
  const meant = report.apps.filter(isMeant).sort(order);
  const rows = meant.map(app => appRow("app " + app.app, [
    [name(app.app), { class: "more", parts: ["adapter ", name(app.adapter), ", key ring ", name(app.key_ring), ...(app.key_version ? [", version ", name(app.key_version)] : [])] }],
    app.state === "active" ? "active" : [{ text: app.state, class: app.state === "paused" ? "held" : "act" }, { class: "more", parts: appHold(app, at) }]
  ], app, recent));
  if (total(unattributed) > 0 && words.length === 0) {
    // In its place by dead letters, and never behind the fold.
    const place = meant.findIndex(app => app.state === "active" && hour(app) < hour({ recent: recent.unattributed }));
    rows.splice(place < 0 ? 50 - 1 : Math.min(place, 50 - 1), 0, appRow("unknown apps", [[{ tag: "i", text: "unknown apps" }, { class: "more", text: "events that name no configured app" }], ""], {
      outcomes: unattributed, recent: recent.unattributed, dead_letters: report.unattributed_dead_letters
    }, recent));
  }
  const out = report.apps_left_out || 0;
  fill($("shown"), [(words.length === 0 ? "" : count(meant.length) + " of ") + noun(report.apps.length, "app") + (out ? ", without " + count(out) + " that have few events" : "")]);
  show.apps(rows);
}

function showThroughput() {
  const { worker, rates, recent, outcomes, lanes } = report, { minute, quarter_hour: quarter, hour } = recent;
  const perSecond = (window, name) => window.seconds > 0 ? figure(rate(window[name] / window.seconds), "/s") : [unknown];
  const tile = (title, main, rest, kind = "") => ({ tag: "section", parts: [
    { tag: "h3", text: title }, { tag: "p", class: "figure " + kind, parts: main }, { tag: "dl", parts: pairs(rest) }
  ] });
  const flow = (title, now, name, sum) => tile(title, rates.seconds > 0 ? figure(rate(now), rates.seconds > 8.5 ? "/s" : "/s over " + age(Math.round(rates.seconds) || 1)) : [unknown], [
    ["1 min", ...perSecond(minute, name)], ["15 min", ...perSecond(quarter, name)], ["total", count(sum)]
  ]);
  const sum = name => lanes.reduce((sum, lane) => sum + lane[name], 0), oldest = Math.max(0, ...lanes.map(lane => lane.oldest_seconds));
  fill($("tiles"), [
    flow("Events finished", rates.ended, "ended", total(outcomes)), flow("Tokens published", rates.minted, "minted", outcomes.minted),
    tile("Dead letters, 15 min", [count(quarter.dead_lettered)], [
      ["1 min", count(minute.dead_lettered)], ["1 h", count(hour.dead_lettered)], ["total", count(outcomes.dead_lettered)]
    ], (worker.degraded || {}).events ? "act" : ""),
    tile("Lag of the live lane, events", [count(lanes[0].lag)], [
      ["oldest in work", oldest > 0 ? timespan(oldest) : unknown], ...lanes.slice(1).map(lane => [lane.lane, count(lane.lag)]), ["queued", count(sum("queued"))]
    ])
  ]);
  drawCharts();
}

function drawCharts() {
  const { rates, recent } = report;
  chart("by-second", { events: rates.ended_by_second, tokens: rates.minted_by_second, dead: rates.dead_lettered_by_second }, "s", 60);
  chart("by-minute", { events: recent.by_minute.ended, tokens: recent.by_minute.minted, dead: recent.by_minute.dead_lettered }, "min", 60);
}

// The time until an active version ends: red once it is over, marked from 30 days before.
function keyRow(ring, version) {
  const left = version.retire_after ? Date.parse(version.retire_after) - Date.parse(report.at) : Infinity, signs = ["active", "prepared"].includes(version.state);
  const mark = version.state === "active" && left <= 0 ? "act" : version.state === "active" && left < 30 * 86400000 ? "held" : undefined;
  return { name: ring.ring + " " + version.id, rank: mark === "act" ? 0 : mark ? 1 : 2, cells: [
    [name(ring.ring)], [name(version.id)], [{ text: version.state, class: mark }, ...(mark ? [{ class: "more", text: mark === "act" ? "past its end: no token is signed" : "replace it before its end" }] : [])], version.algorithm,
    version.age_seconds === undefined ? "" : [{ text: age(version.age_seconds), title: version.activated || version.created }], !signs ? "" : version.retire_after ? [moment(version.retire_after, report.at)] : "no end"
  ] };
}

function showKeys() {
  const row = (ring, rank, ...state) => ({ name: ring.ring, rank, cells: [[name(ring.ring)], "", state, "", "", ""] });
  const rows = report.rings.flatMap(ring => ring.problem ? [row(ring, 0, { text: "unreadable", class: "act" }, { class: "more", text: ring.problem })]
    : ring.source === "signer" ? [row(ring, 2, "at the signer")] : ring.versions.map(version => keyRow(ring, version)));
  show.keys(rows.sort((a, b) => a.rank - b.rank));
  show.campaigns(report.campaigns.map(campaign => ({ name: campaign.ring, cells: [
    [name(campaign.ring)], [name(campaign.from)], [name(campaign.to)],
    campaign.paused ? [campaign.phase, " ", { text: "paused", class: "held" }, { class: "more", text: campaign.paused }] : campaign.phase, [moment(campaign.begun, report.at)]
  ] })));
}

function showHeader() {
  const { worker, at } = report, part = name => name in worker.problems ? { text: "not ready", class: "act" } : "ok";
  fill($("worker"), worker.name ? [name(worker.name)] : []);
  showVerdict();
  fill($("facts"), pairs([
    ["time", at.slice(0, 19).replace("T", " ") + " UTC"], ["this worker", worker.state.replace("_", " ")], ["brokers", part("brokers")], ["clock", part("clock")],
    ["group", name(worker.group)], ["up", since(worker.started, at)],
    ...(worker.version ? [["version", worker.version]] : []), ...(worker.build ? [["build", worker.build]] : [])
  ]));
  $("facts").hidden = false;
}

// One verdict of this worker and the fleet. A subject that both name is shown once, as this worker knows it.
function showVerdict() {
  const { verdict, worker, at } = report, own = new Set(verdict.findings.map(finding => finding.subject)), order = Object.keys(effects);
  const isCovered = ({ subject }) => own.has(subject) || own.has("worker/keys") && /^(ring|keys|campaign)/.test(subject) || own.has("worker/topics") && subject.startsWith("topic/");
  const findings = [...verdict.findings, ...fleetVerdict.findings.filter(finding => !isCovered(finding))]
    .sort((a, b) => order.indexOf(a.effect) - order.indexOf(b.effect));
  const more = verdict.more + fleetVerdict.more, [word, mark] = findings.length ? effects[findings[0].effect] : ["works", "flow"];
  fill($("state"), [word]);
  $("state").className = "badge " + mark;
  document.title = [word, worker.name, "remint"].filter(Boolean).join(" – ");
  $("all-well").hidden = findings.length > 0;
  $("findings").hidden = findings.length === 0;
  const section = runbook => worker.runbook
    ? { tag: "a", href: worker.runbook.replace(/\/?$/, "/OPERATION.md#") + runbook.toLowerCase(), rel: "noreferrer", text: runbook } : "OPERATION.md, " + runbook;
  fill($("findings"), [...findings.map(({ subject, effect, what, affected, since: begun, until, command, runbook }) => {
    const facts = [
      affected && ["for ", name(affected)], begun && ["since ", moment(begun, at)],
      until && [subject.startsWith("app/") && effect === "fails" ? "next probe " : "ends ", moment(until, at)],
      command && [{ tag: "code", text: command }], runbook && [section(runbook)]
    ].filter(Boolean);
    return { tag: "li", parts: [
      { text: effects[effect][0], class: effects[effect][1] }, " ", { text: what }, { class: "more", parts: facts.flatMap((fact, index) => index ? [" · ", ...fact] : fact) }
    ] };
  }), ...(more > 0 ? [{ tag: "li", text: "and " + count(more) + " more: remint status --json" }] : [])]);
}

// An empty section is folded into one line at the end; the others are in the list of links.
function fold(sections) {
  for (const [id, isEmpty] of Object.entries(sections)) $(id).hidden = isEmpty;
  const empty = Object.keys(sections).filter(id => sections[id]).map(id => $("h-" + id).textContent.toLowerCase());
  $("empty").hidden = empty.length === 0;
  $("empty").textContent = "Nothing to show for: " + empty.join(", ") + ".";
  showSections();
}
function showSections() {
  fill($("sections"), [...document.querySelectorAll("#figures > section:not([hidden])")].map(section => ({ tag: "a", text: $("h-" + section.id).textContent, href: "#" + section.id })));
  $("sections").hidden = false;
}

function showAll() {
  const { recent, lanes, lookups } = report;
  showHeader();
  showThroughput();
  show.letters(recent.dead_letters.map(letter => ({ name: letter.code, cells: [[code(letter.code)], count(letter.count), prose(letter.meaning)] })));
  show.lanes(lanes.map(lane => ({ name: lane.lane, isIdle: lane.lane !== "live" && !lane.paused && lane.taken_per_second + lane.lag === 0, cells: [
    lane.paused ? [lane.lane + " ", { text: "paused", class: "held" }, { class: "more", parts: hold(lane.paused, report.at) }] : lane.lane,
    rate(lane.taken_per_second), count(lane.lag), lane.oldest_seconds > 0 ? timespan(lane.oldest_seconds) : unknown,
    ...["p50", "p99"].map(name => lane.latency ? timespan(lane.latency[name]) : unknown), count(lane.queued), count(lane.partitions)
  ] })));
  showApps();
  showKeys();
  show.lookups(lookups.map(account => ({ name: account.account, cells: [
    [name(account.account)], [{ text: account.circuit.replace("_", " "), class: { open: "act", half_open: "held" }[account.circuit] }],
    count(account.queued), count(account.in_flight)
  ] })));
  fold({ letters: recent.dead_letters.length === 0, apps: report.apps.length === 0 && total(report.unattributed) === 0, keys: report.rings.length === 0, campaigns: report.campaigns.length === 0, lookups: lookups.length === 0 });
}

function complain(text) {
  if ($("trouble").textContent !== text) $("trouble").textContent = text;
  $("trouble").hidden = text === "";
  $("figures").classList.toggle("stale", text !== "");
}

function askForToken() {
  $("entry").hidden = false;
  $("figures").hidden = $("facts").hidden = $("sections").hidden = true;
  complain(token === "" ? "" : "the server does not know this token");
  fill($("state"), ["the server asks for its token"]);
  $("state").className = "badge";
}

const ask = (path, timeout) => fetch(path, {
  headers: token === "" ? {} : { Authorization: "Bearer " + token }, cache: "no-store", credentials: "omit", signal: AbortSignal.timeout(timeout)
});

// Beside the worker's status, which does not wait for the brokers.
async function lookAtFleet() {
  if (isAskingFleet || performance.now() < fleetDue) return;
  isAskingFleet = true;
  try {
    const answer = await ask("/fleet", fleetTimeout);
    if (answer.status !== 401) fleet(answer.status, answer.status === 204 ? {} : await answer.json());
  } catch (error) {
    fleet(0, { error: error.message });
  }
  isAskingFleet = false;
  fleetDue = performance.now() + fleetInterval;
}

// Each look takes the place of the one before: one that was overtaken shows nothing and is not followed by another.
async function look() {
  clearTimeout(timer);
  const mine = ++turn;
  if (document.visibilityState === "hidden") return;
  try {
    const answer = await ask("/status", timeout);
    if (mine !== turn) return;
    if (answer.status === 401) return askForToken();
    if (!answer.ok) throw new Error("the server answered " + answer.status);
    const body = await answer.json();
    if (mine !== turn) return;
    if (body.shape !== shape) return complain("the worker is of another version than this page; load the page again");
    report = body;
    seen = new Date();
    $("entry").hidden = true;
    complain("");
    $("figures").hidden = false;
    lookAtFleet();
    showAll();
  } catch (error) {
    if (mine !== turn) return;
    complain((seen ? "no figures since " + seen.toLocaleTimeString() : "no figures") + ": " + error.message);
  }
  timer = setTimeout(look, interval);
}

$("filter").addEventListener("input", () => { if (report) showApps(); });
$("entry").addEventListener("submit", event => {
  event.preventDefault();
  token = $("token").value.trim();
  $("token").value = "";
  look();
});
addEventListener("resize", () => { if (report) drawCharts(); });
// Somebody who is asked for the token is not asked again.
document.addEventListener("visibilitychange", () => { if ($("entry").hidden) look(); });
look();
