// Bars of events, dead letters in them, and a line of tokens over an axis with units.
const chart = (() => {
  const top = 36, bottom = 20, right = 2;

  // The least even round number that is not below `number`, so that half of it is round as well.
  function round(number) {
    const unit = 10 ** Math.max(0, Math.ceil(Math.log10(Math.max(number, 1) / 10)));
    return unit * [2, 4, 6, 8, 10].find(step => step * unit >= number);
  }

  // A few bursts must not flatten the rest: they are cut off, and their height is written over them.
  function height(values) {
    const busy = values.filter(value => value > 0).sort((left, right) => left - right);
    const most = busy[busy.length - 1] || 0, usual = busy[Math.floor((busy.length - 1) * .9)] || 0;
    return round(busy.length >= 10 && most > 4 * usual ? 1.5 * usual : most);
  }

  function element(svg, name, attributes, text) {
    const node = document.createElementNS(svg.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    return node;
  }

  // `unit` is the length of a bar, s or min, of which `slots` are shown; the last bar is now.
  return function chart(id, { events, tokens, dead }, unit, slots) {
    const svg = $(id), width = svg.clientWidth, tall = svg.clientHeight;
    if (width === 0) return;
    const peak = height(events), labels = [0, peak / 2, peak].map(count);
    const left = 8 * Math.max(2, count(peak).length) + 8;
    const slot = (width - left - right) / slots, floor = tall - bottom;
    const x = index => left + slot * (slots - events.length + index), y = value => floor - (floor - top) * Math.min(1, value / peak);
    const nodes = labels.map((label, step) => element(svg, "text", {
      x: left - 6, y: y(peak * step / 2) + 4, "text-anchor": "end"
    }, label));
    nodes.push(element(svg, "text", { x: 0, y: 11 }, "events/" + unit));
    const lines = [0, 1, 2].map(step => "M" + left + "," + (Math.round(y(peak * step / 2)) + .5) + "H" + (width - right)).join("");
    nodes.push(element(svg, "path", { class: "grid", d: lines }));
    const gap = slot > 5 ? 1.5 : slot > 3 ? 1 : .5;
    const bars = (values, least) => values.map((value, index) => value > 0
      ? "M" + (x(index) + gap / 2).toFixed(1) + "," + floor + "V" + Math.min(floor - least, y(value)).toFixed(1) + "h" + (slot - gap).toFixed(1) + "V" + floor + "z" : "").join("");
    nodes.push(element(svg, "path", { class: "events", d: bars(events, 1) }), element(svg, "path", { class: "dead", d: bars(dead, 3) }));
    // A minute that is not over would look like a fall.
    const whole = unit === "min" ? tokens.slice(0, -1) : tokens;
    const line = whole.map((value, index) => (index ? "V" : "M" + x(0).toFixed(1) + ",") + y(value).toFixed(1) + "h" + slot.toFixed(1)).join("");
    // Its casing keeps the line apart from the bars behind it.
    nodes.push(...["casing", "tokens"].map(kind => element(svg, "path", { class: kind, d: line })));
    let free = left;
    events.forEach((value, index) => {
      if (value <= peak) return;
      const middle = Math.max(left + 24, x(index) + slot / 2);
      nodes.push(element(svg, "path", { class: "cut", d: "M" + x(index) + "," + (top + 8) + "l" + slot + ",-4" }));
      // A number that would cover its neighbor is left out.
      if (middle - 24 < free) return;
      nodes.push(element(svg, "text", { class: "burst", x: Math.min(middle, width - 24), y: top - 5, "text-anchor": "middle" }, count(value)));
      free = middle + 24;
    });
    for (const share of [0, .5, 1]) {
      const label = share === 1 ? "now" : slots * (1 - share) + " " + unit + " ago";
      nodes.push(element(svg, "text", { x: left + (width - left - right) * share, y: tall - 4, "text-anchor": ["start", "middle", "end"][share * 2] }, label));
    }
    if (!events.some(value => value > 0)) nodes.push(element(svg, "text", { x: left + (width - left) / 2, y: y(peak * .75) + 4, "text-anchor": "middle" }, "no events"));
    svg.replaceChildren(...nodes);
    const most = Math.max(0, ...events), back = events.length - 1 - events.lastIndexOf(most), last = events.length - 1;
    svg.setAttribute("aria-label", last < 0 ? "nothing is known yet" : "Now " + noun(events[last], "event") + " and " + noun(tokens[last], "token") + " in one " + unit + ". At most "
      + noun(most, "event") + ", " + (back === 0 ? "now" : back + " " + unit + " ago") + ".");
  };
})();
