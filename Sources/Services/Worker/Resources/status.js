"use strict";
// Asks /status every two seconds while somebody sees the page, and shows what it says. Whatever comes from there is shown as text, never as markup.
(() => {
  const shape = 1, interval = 2000, patience = 10000;
  const outcomes = ["minted", "superseded", "skipped", "deferred", "dead_lettered"];
  const $ = id => document.getElementById(id);
  const whole = new Intl.NumberFormat("en");
  let token = "", status = null, seen = null, timer = 0, turn = 0;

  const count = number => whole.format(number);
  const rate = number => (number >= 100 || number === 0 ? whole.format(Math.round(number)) : number.toFixed(1));
  const seconds = number => number === 0 ? "0" : number < 1 ? Math.max(1, Math.round(number * 1000)) + " ms" : number < 120 ? number.toFixed(1) + " s" : age(number);
  const age = number => number < 120 ? Math.floor(number) + " s" : number < 7200 ? Math.floor(number / 60) + " min"
    : number < 172800 ? Math.floor(number / 3600) + " h" : Math.floor(number / 86400) + " d";

  function put(node, text, kind) {
    if (node.textContent !== text) node.textContent = text;
    if (kind !== undefined && node.className !== kind) node.className = kind;
  }

  // What a table's rows are, by their name, so that a row stays itself from one answer to the next.
  function table(id, kinds) {
    const body = $(id).tBodies[0], rows = new Map();
    function make() {
      const row = document.createElement("tr");
      for (const kind of kinds) row.appendChild(document.createElement("td")).className = kind;
      return row;
    }
    return entries => {
      const present = new Set();
      let place = body.firstChild;
      for (const { name, cells, hidden = false } of entries) {
        present.add(name);
        let row = rows.get(name);
        if (!row) rows.set(name, row = make());
        if (row.hidden !== hidden) row.hidden = hidden;
        cells.forEach((cell, index) => fill(row.cells[index], cell, kinds[index]));
        if (row === place) place = place.nextSibling; else body.insertBefore(row, place);
      }
      for (const [name, row] of rows) if (!present.has(name)) { row.remove(); rows.delete(name); }
    };
  }

  // A cell is a text, or a text with a kind and a second line.
  function fill(node, cell, kind) {
    const { text, mark = "", more = "" } = typeof cell === "string" ? { text: cell } : cell;
    if (node.childNodes.length === 0) { node.append(document.createElement("span"), document.createElement("span")); }
    put(node.firstChild, text, mark);
    put(node.lastChild, more, more ? "small" : "");
    if (node.className !== kind) node.className = kind;
  }

  const tables = {
    lanes: table("lanes", ["", "n", "n", "n", "n wide", "n", "n wide", "n wide"]),
    apps: table("apps", ["", "", "n", "n wide", "n wide", "n wide", "n"]),
    rings: table("rings", ["", "", "", "wide", "n"]),
    campaigns: table("campaigns", ["", "", "", "", "wide"]),
    lookups: table("lookups", ["", "", "n", "n"])
  };

  const ended = app => outcomes.reduce((sum, name) => sum + app.outcomes[name], 0);

  // Those that somebody must look at come first: who waits, then who loses most, then who is busiest.
  function order(left, right) {
    return (left.state === "active") - (right.state === "active")
      || right.outcomes.dead_lettered - left.outcomes.dead_lettered
      || ended(right) - ended(left) || (left.app < right.app ? -1 : 1);
  }

  function showApps() {
    const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const isMeant = app => {
      const text = [app.app, app.adapter, app.key_ring, app.state].join(" ").toLowerCase();
      return words.every(word => text.includes(word));
    };
    const rows = status.apps.slice().sort(order).map(app => {
      const codes = Object.entries(app.dead_letters || {}).map(([code, n]) => code + " " + count(n)).join(", ");
      const state = app.state === "active" ? { text: app.state, mark: "good" } : {
        text: app.state, mark: "ill",
        more: ["since " + app.suspended_since, app.suspended_until ? "until " + app.suspended_until : "", app.refusing_users ? count(app.refusing_users) + " users refused" : "", app.by, app.why].filter(Boolean).join(", ")
      };
      return { name: app.app, hidden: !isMeant(app), cells: [
        { text: app.app, more: [app.adapter, app.key_ring, app.key_version].filter(Boolean).join(", ") }, state,
        ...outcomes.slice(0, 4).map(name => count(app.outcomes[name])),
        { text: count(app.outcomes.dead_lettered), mark: app.outcomes.dead_lettered ? "ill" : "", more: codes }
      ] };
    });
    put($("shown"), rows.filter(row => !row.hidden).length + " of " + rows.length);
    tables.apps(rows);
  }

  function showRates() {
    const { rates } = status;
    put($("ended"), rate(rates.ended));
    put($("minted"), rate(rates.minted));
    put($("total"), count(outcomes.reduce((sum, name) => sum + status.outcomes[name], 0)));
    put($("dead"), count(status.outcomes.dead_lettered), status.outcomes.dead_lettered ? "ill" : "");
    const peak = Math.max(0, ...rates.ended_by_second);
    put($("peak"), count(peak));
    // Right is now.
    const points = list => list.map((n, index) => (60 - list.length + index + 1) + "," + (19 - 18 * n / Math.max(1, peak)).toFixed(2)).join(" ");
    $("line-ended").setAttribute("points", points(rates.ended_by_second));
    $("line-minted").setAttribute("points", points(rates.minted_by_second));
  }

  // The end of a version that signs or may sign. From 30 days before it, it is marked.
  const end = version => version.retire_after && ["active", "prepared"].includes(version.state) ? "until " + version.retire_after : "";
  function mark(version) {
    if (version.state !== "active") return version.state === "revoked" ? "ill" : "";
    const left = version.retire_after ? Date.parse(version.retire_after) - Date.parse(status.at) : Infinity;
    return left <= 0 ? "ill" : left < 30 * 86400000 ? "wait" : "good";
  }

  function showRings() {
    tables.rings(status.rings.flatMap(ring => {
      if (ring.problem) return [{ name: ring.ring, cells: [ring.ring, "", { text: "unreadable", mark: "ill", more: ring.problem }, "", ""] }];
      if (ring.source === "signer") return [{ name: ring.ring, cells: [ring.ring, "", "at the signer", "", ""] }];
      return ring.versions.map(version => ({ name: ring.ring + " " + version.id, cells: [
        ring.ring, version.id, { text: version.state, mark: mark(version), more: end(version) },
        version.algorithm, version.age_seconds === undefined ? "" : age(version.age_seconds)
      ] }));
    }));
    tables.campaigns(status.campaigns.map(campaign => ({ name: campaign.ring, cells: [
      campaign.ring, campaign.from, campaign.to,
      campaign.paused ? { text: campaign.phase, mark: "wait", more: "paused: " + campaign.paused } : campaign.phase, campaign.begun
    ] })));
  }

  function show() {
    const { worker } = status;
    put($("worker"), [worker.name, "of " + worker.group, "since " + worker.started].filter(Boolean).join(" "));
    put($("state"), worker.state.replace("_", " "), "mark " + ({ ready: "good", quiet: "wait" }[worker.state] || "ill"));
    const problems = Object.entries(worker.problems).map(([name, text]) => name + ": " + text);
    const lines = problems.map(text => { const line = document.createElement("li"); line.textContent = text; return line; });
    $("problems").hidden = problems.length === 0;
    $("problems").replaceChildren(...lines);
    showRates();
    tables.lanes(status.lanes.map(lane => ({ name: lane.lane, cells: [
      lane.paused ? { text: lane.lane, mark: "ill", more: ["paused since " + lane.paused.since, lane.paused.until ? "until " + lane.paused.until : "", lane.paused.by, lane.paused.why].filter(Boolean).join(", ") } : lane.lane, rate(lane.taken_per_second), count(lane.lag), seconds(lane.oldest_seconds),
      lane.latency ? seconds(lane.latency.p50) : "", lane.latency ? seconds(lane.latency.p99) : "",
      count(lane.queued), count(lane.partitions)
    ] })));
    showApps();
    showRings();
    tables.lookups(status.lookups.map(account => ({ name: account.account, cells: [
      account.account, { text: account.circuit.replace("_", " "), mark: account.circuit === "closed" ? "good" : account.circuit === "open" ? "ill" : "wait" },
      count(account.queued), count(account.in_flight)
    ] })));
    for (const name of ["campaigns", "lookups"]) {
      $(name).hidden = status[name].length === 0;
      $("no-" + name).hidden = status[name].length > 0;
    }
  }

  function complain(text) {
    put($("trouble"), text);
    $("trouble").hidden = text === "";
    $("figures").classList.toggle("stale", text !== "");
  }

  function ask(forToken) {
    $("entry").hidden = !forToken;
    if (forToken) $("figures").hidden = true;
    if (forToken) complain(token === "" ? "" : "the server does not know this token");
    if (forToken) put($("worker"), "the server asks for its token");
  }

  // Each look takes the place of the one before: one that was overtaken shows nothing and is not followed by another.
  async function look() {
    clearTimeout(timer);
    const mine = ++turn;
    if (document.visibilityState === "hidden") return;
    try {
      const answer = await fetch("/status", {
        headers: token === "" ? {} : { Authorization: "Bearer " + token }, cache: "no-store", credentials: "omit",
        signal: AbortSignal.timeout(patience)
      });
      if (mine !== turn) return;
      if (answer.status === 401) return ask(true);
      if (!answer.ok) throw new Error("the server answered " + answer.status);
      const body = await answer.json();
      if (mine !== turn) return;
      if (body.shape !== shape) return complain("the worker is of another version than this page; load the page anew");
      status = body;
      seen = new Date();
      ask(false);
      complain("");
      $("figures").hidden = false;
      show();
    } catch (error) {
      if (mine !== turn) return;
      complain((seen ? "no figures since " + seen.toLocaleTimeString() : "no figures") + ": " + error.message);
    }
    timer = setTimeout(look, interval);
  }

  $("filter").addEventListener("input", () => { if (status) showApps(); });
  $("entry").addEventListener("submit", event => {
    event.preventDefault();
    token = $("token").value.trim();
    $("token").value = "";
    look();
  });
  // Who is asked for the token is not asked anew.
  document.addEventListener("visibilitychange", () => { if ($("entry").hidden) look(); });
  look();
})();
