import { LENGTH_MS, LIMIT, WINDOW_MS } from './scenes.mjs';

const WIDTH = 760;
const LEFT = 112;
const RIGHT = 92;
const MOST = 20;
/** Both themes of whoever shows the picture; shapes differ too, for colour alone tells not everybody. */
const STYLE = `text{font:12px system-ui,sans-serif;fill:#3b4653}.title{font-size:14px;font-weight:600}.axis{stroke:#aab4c0;stroke-width:1}.grid{stroke:#aab4c0;stroke-width:1;stroke-dasharray:1 4}
.passed{fill:#0b5cad}.refused{stroke:#b3382c;stroke-width:1.5;fill:none}.held{stroke:#0b5cad;stroke-opacity:.45}.curve{fill:#0b5cad;fill-opacity:.14;stroke:#0b5cad;stroke-width:1.5}.limit{stroke:#3b4653;stroke-width:1;stroke-dasharray:5 4}
.worst{stroke:#b3382c;stroke-width:1;stroke-dasharray:2 3}
@media (prefers-color-scheme:dark){text{fill:#c3ccd6}.axis,.grid{stroke:#56616e}.passed{fill:#7db8f5}.refused,.worst{stroke:#f09a8f}.held,.curve{stroke:#7db8f5}.curve{fill:#7db8f5}.limit{stroke:#c3ccd6}}`;

const xOf = (atMs) => round(LEFT + (atMs / LENGTH_MS) * (WIDTH - LEFT - RIGHT));
const round = (value) => Math.round(value * 10) / 10;
const line = (kind, x1, y1, x2, y2) => `<line class="${kind}" x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}"/>`;
const label = (text, x, y, anchor = 'end') => `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${text}</text>`;
const dot = (atMs, y) => `<circle class="passed" cx="${xOf(atMs)}" cy="${round(y)}" r="2.6"/>`;
const cross = (atMs, y) => `<path class="refused" d="M${round(xOf(atMs) - 2.6)} ${round(y - 2.6)}l5.2 5.2m0-5.2l-5.2 5.2"/>`;

/** Two panels: every call with its fate, and what passed within the last window, against the limit and the published worst case. */
export function drawRate({ title, worst }, calls) {
  const [cameY, refusedY, top, bottom] = [44, 66, 92, 212];
  const yOf = (units) => bottom - (units / MOST) * (bottom - top);
  const went = calls.filter(({ wentMs }) => wentMs !== null);
  const isQueue = went.some(({ cameMs, wentMs }) => wentMs !== cameMs);
  const marks = calls.flatMap(({ cameMs, wentMs }) => {
    if (wentMs === null) return [cross(cameMs, isQueue ? cameY : refusedY)];
    if (!isQueue) return [dot(cameMs, cameY)];
    // What goes after the picture's end leaves it on its way.
    const part = Math.min(1, (LENGTH_MS - cameMs) / Math.max(1, wentMs - cameMs));
    return [line('held', xOf(cameMs), cameY, xOf(cameMs + part * (wentMs - cameMs)), cameY + part * (refusedY - cameY)), ...(part < 1 ? [] : [dot(wentMs, refusedY)])];
  });
  const steps = stepsOf(went.map(({ wentMs }) => wentMs));
  const most = Math.max(...steps.map(({ units }) => units));
  return svg(title, 244, `${title}: of ${calls.length} calls ${went.length} pass, at most ${most} within any 10 seconds; published are ${worst}.`, [
    label(isQueue ? 'come, refused ×' : 'passed', LEFT - 10, cameY + 4), label(isQueue ? 'go' : 'refused', LEFT - 10, refusedY + 4), ...marks,
    ...[0, LIMIT, MOST].map((units) => label(String(units), LEFT - 10, yOf(units) + 4)), label('in the last 10 s', LEFT - 10, yOf(15) + 4),
    ...seconds(bottom, 28),
    `<path class="curve" d="M${xOf(0)} ${bottom}${steps.map(({ atMs, units }) => `H${xOf(atMs)}V${round(yOf(units))}`).join('')}H${xOf(LENGTH_MS)}V${bottom}Z"/>`,
    line('limit', LEFT, yOf(LIMIT), WIDTH - RIGHT, yOf(LIMIT)), label(worst > LIMIT ? 'limit' : 'limit,', WIDTH - RIGHT + 8, yOf(LIMIT) + 4, 'start'),
    ...(worst > LIMIT
      ? [line('worst', LEFT, yOf(worst), WIDTH - RIGHT, yOf(worst)), label(`worst case ${worst}`, WIDTH - RIGHT + 8, yOf(worst) + 4, 'start')]
      : [label('never more', WIDTH - RIGHT + 8, yOf(LIMIT) + 20, 'start')]),
  ]);
}

/** Units within the last window whenever they change: one more when a call goes, one less when it is a window old; what happens at once is one step. */
function stepsOf(instants) {
  const changes = new Map();
  for (const [atMs, change] of instants.flatMap((wentMs) => [[wentMs, 1], [wentMs + WINDOW_MS, -1]])) changes.set(atMs, (changes.get(atMs) ?? 0) + change);
  let units = 0;
  return [...changes].sort(([a], [b]) => a - b).map(([atMs, change]) => ({ atMs, units: (units += change) })).filter(({ atMs }) => atMs <= LENGTH_MS);
}

function seconds(bottom, top) {
  const marks = Array.from({ length: Math.floor(LENGTH_MS / WINDOW_MS) + 1 }, (_, index) => index * WINDOW_MS);
  return [line('axis', LEFT, bottom, WIDTH - RIGHT, bottom), ...marks.flatMap((atMs) => [line('grid', xOf(atMs), top, xOf(atMs), bottom), label(`${atMs / 1000} s`, xOf(atMs), bottom + 18, 'middle')])];
}

/** Each call as a bar for as long as it holds its slot, in the first free row. */
export function drawConcurrency({ title, limit }, calls) {
  const [top, rowHeight] = [46, 24];
  const bottom = top + limit * rowHeight;
  const refusedY = bottom + 16;
  const freeAtMs = Array(limit).fill(0);
  const marks = calls.map(({ beganMs, endedMs }) => {
    if (endedMs === null) return cross(beganMs, refusedY);
    const row = freeAtMs.findIndex((atMs) => atMs <= beganMs);
    freeAtMs[row] = endedMs;
    return `<rect class="curve" x="${xOf(beganMs)}" y="${top + row * rowHeight + 3}" width="${round(xOf(Math.min(endedMs, LENGTH_MS)) - xOf(beganMs))}" height="${rowHeight - 6}" rx="4"/>`;
  });
  const refused = calls.filter(({ endedMs }) => endedMs === null).length;
  return svg(title, refusedY + 42, `${title}: ${calls.length - refused} calls hold a slot until they end, ${refused} that come while all are taken are refused.`, [
    ...freeAtMs.map((_, row) => label(`slot ${row + 1}`, LEFT - 10, top + row * rowHeight + rowHeight / 2 + 4)), label('refused', LEFT - 10, refusedY + 4),
    ...seconds(refusedY + 12, 32), ...marks,
  ]);
}

const svg = (title, height, description, parts) => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="t d"><title id="t">${title}</title><desc id="d">${description}</desc>
<style>${STYLE}</style>
<text class="title" x="16" y="20">${title}</text>
${parts.join('\n')}
</svg>
`;
