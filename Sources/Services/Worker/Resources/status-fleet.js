// The fleet, as the brokers know it. The server asks them at most once in ten seconds.
const fleet = (() => {
  const lanes = ["live", "retries", "bulk"];
  const showLanes = table("fleet-lanes", [
    { label: "Lane", kind: "name" }, { label: "State", card: "", kind: "words" }, { label: "Lag", unit: "events", card: "lag, events", kind: "n", hint: "Events of all partitions that no worker has finished" },
    { label: "Partitions", card: "partitions", kind: "n" }, { label: "Topics", unit: "events in each", card: "", kind: "words" }
  ]);
  const showWorkers = table("workers", [
    { label: "Worker", kind: "name" }, { label: "State", card: "", kind: "words" }, { label: "Last commit", card: "last commit", kind: "n", hint: "The newest commit of the worker's partitions" },
    ...lanes.map(lane => ({ label: lane[0].toUpperCase() + lane.slice(1), unit: "partitions", card: lane + " partitions", kind: "n" }))
  ]);
  const waiting = topic => topic.waiting === undefined ? "unknown" : (topic.waiting_is_upper_bound ? "at most " : "") + count(topic.waiting);

  const partitions = lane => lane.topics.reduce((sum, topic) => sum + topic.partitions, 0);

  function state(lane, workers) {
    if (lane.topics.some(topic => topic.partitions === 0)) return [{ text: "topic missing", class: "act" }];
    if (lane.paused) return [{ text: "paused", class: "held" }];
    if (!lane.group_state) return ["workers unknown"];
    if (lane.members.length === 0) return [{ text: "no worker", class: "act" }];
    if (lane.state === "stalled") return [{ text: "stalled", class: "act" }];
    if (lane.group_state !== "Stable") return [{ text: "rebalancing", class: "held" }];
    const all = partitions(lane), without = all - workers.reduce((sum, worker) => sum + (worker.partitions[lane.lane] || 0), 0);
    return without > 0 ? [{ text: count(without) + " of " + noun(all, "partition") + " without a worker", class: "act" }] : ["consumed"];
  }

  // This worker knows its own readiness; the others show theirs on their own pages.
  function workerRow(worker, at) {
    const { name: called, client_id: client, host: address, workers, partitions, last_commit: commit } = worker, host = address.replace("/", "");
    const own = report && called && called === report.worker.name, isNear = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
    const link = location.protocol + "//" + (host.includes(":") ? "[" + host + "]" : host) + (location.port ? ":" + location.port : "") + "/";
    return { name: called + " " + client + " " + address, cells: [
      [name(called || client), { class: "more", parts: [own || isNear ? name(host) : { ...name(host), tag: "a", href: link, rel: "noreferrer" }, workers > 1 ? ", " + noun(workers, "worker") : ""] }],
      [own ? report.worker.state.replace("_", " ") + ", this page" : "in the group"], commit ? [moment(commit, at)] : unknown,
      ...lanes.map(lane => count(partitions[lane] || 0))
    ] };
  }

  function show(body) {
    const dead = body.dead_letters, parked = body.parked_letters, most = 50, { at } = body;
    const held = body.campaigns.map(campaign => ({ tag: "li", parts: [
      { text: "campaign", class: "held" }, " ", name(campaign.ring), " from " + campaign.from + " to " + campaign.to + ", " + campaign.phase + ", begun ", moment(campaign.begun, at)
    ] }));
    fleetVerdict = body.verdict;
    showVerdict();
    const count_ = body.workers.reduce((sum, worker) => sum + worker.workers, 0), isDescribed = body.lanes.some(lane => lane.group_state);
    fill($("fleet-facts"), pairs([
      ["group", name(body.group)], ["workers", isDescribed ? count(count_) : "unknown"],
      ["dead letters that wait", waiting(dead)], ...(parked ? [["parked dead letters", waiting(parked)]] : []),
      ["apps", count(body.apps.length + (body.apps_left_out || 0))], ["asked", moment(body.at, (report || body).at)]
    ]));
    fill($("holds"), held.length > most ? [...held.slice(0, most), { tag: "li", text: "and " + count(held.length - most) + " more: remint status" }] : held);
    $("holds").hidden = held.length === 0;
    showLanes(body.lanes.map(lane => ({ name: lane.lane, isIdle: lane.lane !== "live" && lane.state === "active" && lane.lag === 0, cells: [
      lane.lane, state(lane, body.workers), lane.lag === undefined ? "unknown" : count(lane.lag), count(partitions(lane)),
      lane.topics.map(topic => ({ class: "more", parts: [name(topic.topic), ": " + waiting(topic)] }))
    ] })));
    showWorkers([...body.workers].sort((a, b) => byName(a.host, b.host) || byName(a.client_id, b.client_id)).map(worker => workerRow(worker, at)));
    for (const id of ["t-workers", "no-workers"]) $(id).hidden = (id === "t-workers") === (body.workers.length === 0);
    $("no-workers").textContent = isDescribed ? "No worker is a member of the group." : "The brokers do not describe the group's members.";
  }

  // The answer is the fleet, or the reason why it is unknown; with 204 this worker cannot ask.
  return (status, body) => {
    const isKnown = status === 200 && body.shape === 1;
    $("fleet").hidden = status === 204;
    showSections();
    $("fleet-parts").classList.toggle("stale", !isKnown);
    $("fleet-trouble").hidden = isKnown;
    $("fleet-trouble").textContent = isKnown ? "" : "The fleet is unknown: " + (status === 200 ? "the worker is of another version than this page; load the page again" : body.error || "the server answered " + status);
    if (isKnown) show(body); else fleetVerdict = { findings: [], more: 0 };
    const isEmpty = $("t-fleet-lanes").tBodies[0].rows.length === 0;
    $("fleet-parts").hidden = isEmpty;
    $("fleet-facts").hidden = isEmpty;
  };
})();
