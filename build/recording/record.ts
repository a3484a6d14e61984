import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a new user types, in an empty folder. */
const commands = [
  'npx signalbox init my-guards > /dev/null && cd my-guards',
  'npx signalbox hook fire --hook provider --phase before_call --event @event.json',
  "echo 'exit(1)' >> scripts/pii_filter.py    # break the filter",
  'npx signalbox hook fire --hook provider --phase before_call --event @event.json --log-level error',
  'npx signalbox doctor --chaos | tail -1    # break every filter in 14 ways',
  'npx signalbox eval run quickstart.suite.yaml --quiet | tail -6',
];
const size = { width: 820, columns: 99, line: 19, top: 62, left: 20 };
const secondsPerLetter = 0.014;
const secondsToRead = 0.8;

/** A terminal with the commands and what the built program prints: an animation that plays once and ends complete. */
export function recordTerminal(): string {
  const lines: string[] = [];
  let at = 0.5;
  let row = 0;
  const add = (text: string, isTyped: boolean) => {
    const seconds = isTyped ? text.length * secondsPerLetter : 0;
    const typing = isTyped
      ? ` typed" style="--at:${at.toFixed(2)}s;--for:${seconds.toFixed(2)}s;--n:${text.length}`
      : `" style="--at:${at.toFixed(2)}s`;
    const y = size.top + row * size.line;
    lines.push(`<text class="line${typing}" x="${size.left}" y="${y}">${paint(text, isTyped)}</text>`);
    at += seconds;
    row += 1;
  };
  for (const { command, output } of runAll()) {
    for (const text of wrap(`$ ${command}`)) add(text, true);
    at += 0.2;
    for (const text of output === '' ? [] : output.split('\n').flatMap(wrap)) add(text, false);
    at += secondsToRead;
  }
  const height = size.top + row * size.line;
  return `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${size.width}" height="${height}" viewBox="0 0 ${size.width} ${height}">
<title>The first run of Signalbox in a terminal</title>
<style>
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #e6edf3; white-space: pre; }
.prompt, .good { fill: #56d364; }
.bad { fill: #ff7b72; }
.changed { fill: #e3b341; }
.quiet { fill: #9aa4af; }
@media (prefers-reduced-motion: no-preference) {
.line { animation: show 0.01s linear var(--at) backwards; }
.typed { animation: type var(--for) steps(var(--n)) var(--at) backwards; }
@keyframes show { from { opacity: 0; } }
@keyframes type { from { clip-path: inset(0 100% 0 0); } }
}
</style>
<rect width="${size.width}" height="${height}" rx="8" fill="#161b22"/>
<circle cx="24" cy="20" r="6" fill="#ff7b72"/><circle cx="44" cy="20" r="6" fill="#e3b341"/><circle cx="64" cy="20" r="6" fill="#56d364"/>
${lines.join('\n')}
</svg>
`;
}

function runAll(): { command: string; output: string }[] {
  const program = join(import.meta.dirname, '../../dist/cli/main.js');
  const npx = `npx() { shift; ${JSON.stringify(process.execPath)} ${JSON.stringify(program)} "$@"; }`;
  const folder = mkdtempSync(join(tmpdir(), 'recording-'));
  const [first = '', ...others] = commands;
  const run = (command: string, cwd: string) => {
    const { stdout } = spawnSync('sh', ['-c', `${npx}\n{ ${command.replace(/ {4}#.*/, '')}\n} 2>&1`], {
      cwd,
      encoding: 'utf8',
    });
    return { command, output: withFixedTimes(stdout.trimEnd()) };
  };
  try {
    return [run(first, folder), ...others.map((command) => run(command, join(folder, 'my-guards')))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Times differ from run to run. */
function withFixedTimes(text: string): string {
  return text.replaceAll(/in [\d.]+ m?s( \([\d.]+ per second\))?/g, 'in 0.5 s');
}

/** As a terminal shows a long line. */
function wrap(text: string): string[] {
  return text.match(new RegExp(`.{1,${size.columns}}`, 'g')) ?? [''];
}

function paint(text: string, isTyped: boolean): string {
  const safe = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const span = (name: string) => (found: string) => `<tspan class="${name}">${found}</tspan>`;
  if (isTyped) return safe.replace(/^\$/, span('prompt')).replace(/#.*/, span('quiet'));
  return safe
    .replace(/^(deny|hint|1 failure)\b/, span('bad'))
    .replace(/^modify\b|\[(?:email|card)\]/g, span('changed'))
    .replace(/^✓|\b28 denied\b/, span('good'))
    .replace(/^asked.*/, span('quiet'));
}
