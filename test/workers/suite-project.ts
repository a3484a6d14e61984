import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SuiteProject {
  readonly folder: string;
  readonly config: string;
  readonly suite: string;
  readonly suiteText: string;
  /** The same files elsewhere, as on another machine. */
  copy(): SuiteProject;
}

export interface SuiteProjectOptions {
  readonly cases: number;
  readonly badRows?: readonly number[];
  readonly store?: string;
}

export function openSuite({
  cases,
  badRows = [],
  store = '{type: postgres, url_env: DATABASE_URL}',
}: SuiteProjectOptions): SuiteProject {
  const folder = mkdtempSync(join(tmpdir(), 'suites-'));
  writeFileSync(
    join(folder, 'runtime.yaml'),
    `apiVersion: signalbox/v1\nkind: RuntimeConfig\nmetadata: {name: desk}\nspec:\n  state_store: ${store}\n`,
  );
  writeFileSync(join(folder, 'demo.suite.yaml'), suiteText);
  const lines: string[] = [];
  for (let number = 1; number <= cases; number += 1)
    lines.push(badRows.includes(number) ? '{no row' : JSON.stringify({ id: `c${number}`, n: number % 97 }));
  writeFileSync(join(folder, 'rows.jsonl'), `${lines.join('\n')}\n`);
  return projectIn(folder);
}

function projectIn(folder: string): SuiteProject {
  return {
    folder,
    config: join(folder, 'runtime.yaml'),
    suite: join(folder, 'demo.suite.yaml'),
    suiteText,
    copy: () => {
      const other = mkdtempSync(join(tmpdir(), 'suites-'));
      cpSync(folder, other, { recursive: true, preserveTimestamps: true });
      return projectIn(other);
    },
  };
}

const suiteText = `apiVersion: signalbox/v1
kind: EvalSuite
metadata: {name: demo}
spec:
  runtime: ./runtime.yaml
  dataset: {path: rows.jsonl}
  case: {id: "\${case.id}", content: "number \${case.n}", tags: ["n\${case.n}"]}
  evals:
    - {id: seven, type: contains, params: {patterns: ["7"]}, role: metric}
    - {id: short, type: max_length, params: {max: 8}, role: metric}
  gates: [{eval: short, metric: pass_rate, min: 0.01}]
`;

/** A report as JSON, without the parts that differ each time. */
export function comparable(stdout: string): unknown {
  return JSON.parse(stdout, (key, value: unknown) =>
    /_ms$|^run_id$|^started_at$|^latency|^duration/.test(key) ? undefined : value,
  );
}

export function reportOf(file: string): string[] {
  const [head = '', ...lines] = readFileSync(file, 'utf8').split('\n');
  const names = head.split(',');
  const timed = new Set(names.flatMap((name, at) => (/_ms$|^run_id$/.test(name) ? [at] : [])));
  return [
    head,
    ...lines.map((line) =>
      line
        .split(',')
        .filter((_, at) => !timed.has(at))
        .join(),
    ),
  ];
}
