"use strict";
// Numbers, times and tables. Everything from the server is shown as text, never as markup.
const numbers = new Intl.NumberFormat("en"), unknown = "–";
const $ = id => document.getElementById(id);
const count = number => numbers.format(number);
const noun = (number, one) => count(number) + " " + one + (number === 1 ? "" : "s");
const rate = number => number === 0 ? "0" : number < .01 ? "<0.01" : number < .995 ? number.toFixed(2) : number < 9.95 ? number.toFixed(1) : count(Math.round(number));

// A length of time in its largest unit.
function timespan(seconds) {
  if (seconds < .0005) return "0 s";
  if (seconds < .9995) return Math.max(1, Math.round(seconds * 1000)) + " ms";
  if (seconds < 9.95) return seconds.toFixed(1) + " s";
  return age(seconds);
}
function age(seconds) {
  return seconds < 120 ? Math.floor(seconds) + " s" : seconds < 7200 ? Math.floor(seconds / 60) + " min"
    : seconds < 172800 ? Math.floor(seconds / 3600) + " h" : Math.floor(seconds / 86400) + " d";
}

// A time beside `now`, both from the server: relative, with the exact time as title.
function moment(time, now, words = text => text) {
  const seconds = (Date.parse(now) - Date.parse(time)) / 1000, exact = time.replace(/\.\d+/, "").replace("T", " ").replace("Z", " UTC");
  const text = Math.abs(seconds) < 1 ? "now" : seconds > 0 ? age(seconds) + " ago" : "in " + age(-seconds);
  return { tag: "time", text: words(text), title: exact, datetime: time };
}
// The time from `time`, which is over, until `now`.
const since = (time, now) => moment(time, now, text => text.endsWith(" ago") ? text.replace(" ago", "") : "0 s");

// Text with commands between backticks.
const prose = text => text.split("`").map((part, index) => index % 2 ? { tag: "code", text: part } : part).filter(part => part !== "");
const figure = (text, unit) => [text, { class: "unit", text: " " + unit }];
// The order of names for people: app-2 before app-10.
const byName = new Intl.Collator("en", { numeric: true }).compare;
// A name may break behind a separator. Only what has none breaks between any two letters, and what is short does not break at all.
const name = text => text.length <= 10 ? { class: "id short", text } : {
  class: "id", parts: text.split(/(?<=[-_.:/@])(?=.)/).flatMap((part, index) => index === 0 ? [part] : [{ tag: "wbr" }, part])
};
const code = text => ({ ...name(text), tag: "a", href: "/codes#" + encodeURIComponent(text) });

// Makes the children of `parent` into `parts`: texts, or elements with attributes. A child that fits stays, with its focus.
function fill(parent, parts) {
  parts.forEach((part, index) => {
    const { tag = "span", text, parts: inner, ...attributes } = typeof part === "string" ? { text: part } : part;
    let node = parent.childNodes[index];
    if (!node || node.localName !== tag) {
      const made = document.createElement(tag);
      if (node) node.replaceWith(made); else parent.append(made);
      node = made;
    }
    for (const name of node.getAttributeNames()) if (attributes[name] === undefined) node.removeAttribute(name);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== undefined && node.getAttribute(name) !== value) node.setAttribute(name, value);
    }
    if (inner) fill(node, inner); else if (node.childElementCount > 0 || node.textContent !== text) node.textContent = text;
  });
  while (parent.childNodes.length > parts.length) parent.lastChild.remove();
}

// Pairs of a term and its description.
const pairs = entries => entries.map(([term, ...parts]) => ({ tag: "div", parts: [{ tag: "dt", text: term }, { tag: "dd", parts }] }));

// A table whose rows keep their elements from one answer to the next, by name. It is folded beyond `first` rows. Roles are set, because
// a row that is shown as a card is no row for a screen reader otherwise. A column has a label, a unit, a kind and a hint.
function table(id, columns, first = 50) {
  const step = 200;
  const node = $("t-" + id), body = document.createElement("tbody"), head = document.createElement("thead"), rows = new Map();
  const more = document.createElement("button");
  let limit = first, known = [];
  fill(head, [{ tag: "tr", role: "row", parts: columns.map(({ label, unit, kind = "", hint }) => ({
    tag: "th", scope: "col", role: "columnheader", class: kind, title: hint, parts: unit ? [label, { class: "unit", text: unit }] : [label]
  })) }]);
  for (const [part, role] of [[node, "table"], [head, "rowgroup"], [body, "rowgroup"]]) part.setAttribute("role", role);
  node.append(head, body);
  Object.assign(more, { type: "button", className: "show-more", hidden: true });
  more.addEventListener("click", () => { limit += step; show(known); });
  node.after(more);

  function show(entries) {
    known = entries;
    const present = new Set();
    let place = body.firstChild;
    for (const { name, cells, isIdle } of entries.slice(0, limit)) {
      present.add(name);
      let row = rows.get(name);
      if (!row) rows.set(name, row = document.createElement("tr"));
      row.setAttribute("role", "row");
      row.classList.toggle("idle", isIdle === true);
      fill(row, cells.map((cell, index) => {
        const { label, card = label, kind = "" } = columns[index], parts = Array.isArray(cell) ? cell : [cell], only = parts.length === 1 ? parts[0].text ?? parts[0] : undefined;
        return {
          tag: index === 0 ? "th" : "td", scope: index === 0 ? "row" : undefined, role: index === 0 ? "rowheader" : "cell",
          class: kind + (only === "" ? " blank" : only === "0" || only === unknown ? " zero" : ""), "data-label": card || undefined, parts
        };
      }));
      if (row === place) place = place.nextSibling; else body.insertBefore(row, place);
    }
    for (const [name, row] of rows) if (!present.has(name)) { row.remove(); rows.delete(name); }
    const hidden = entries.length - Math.min(entries.length, limit);
    more.hidden = hidden === 0;
    more.textContent = "Show " + count(Math.min(step, hidden)) + " more of " + count(hidden);
  }
  return show;
}
