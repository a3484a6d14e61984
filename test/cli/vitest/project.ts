import { execFile, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
const vitest = join(root, 'node_modules/.bin/vitest');
const entry = join(root, 'src/cli/vitest/vitest.ts');

const config = `export default {
  test: {
    expect: { requireAssertions: true },
    alias: { 'signalbox/vitest': ${JSON.stringify(entry)} },
    // As an installed package, it is loaded by Node itself.
    server: { deps: { external: [${JSON.stringify(join(root, 'src'))}] } },
  },
};
`;

/** Writes a project that tests with vitest into a new folder. Scripts are made executable. */
export function writeProject(files: Readonly<Record<string, string>>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'project-')));
  for (const [name, content] of Object.entries({ ...files, 'vitest.config.mjs': config })) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    if (content.startsWith('#!')) chmodSync(path, 0o755);
  }
  return folder;
}

export const header = 'apiVersion: signalbox/v1\nkind: ';

export function suite(name: string, ...spec: readonly string[]): string {
  const lines = ['runtime: ./runtime.yaml', ...spec].map((line) => `  ${line}\n`);
  return `${header}EvalSuite\nmetadata: {name: ${name}}\nspec:\n${lines.join('')}`;
}

export function testFile(suites: Readonly<Record<string, string>>): string {
  const calls = Object.entries(suites).map(
    ([file, options]) => `await describeSuite('${file}', ${options});\n`,
  );
  return `import { describeSuite } from 'signalbox/vitest';\n${calls.join('')}`;
}

export interface Tested {
  readonly exitCode: number;
  /** `FILE > SUITE > TEST`, and passed, skipped or the error message. */
  readonly tests: readonly (readonly [title: string, said: string])[];
  /** Files whose tests could not be collected. */
  readonly broken: Readonly<Record<string, string>>;
  readonly output: string;
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

export async function runVitest(folder: string, ...args: readonly string[]): Promise<Tested> {
  const given = ['run', '--reporter=default', '--reporter=json', '--outputFile=out.json', ...args];
  const { exitCode, output } = await new Promise<Pick<Tested, 'exitCode' | 'output'>>((resolve) => {
    const child = execFile(vitest, given, { cwd: folder, env: environment() }, (_, stdout, stderr) => {
      resolve({ exitCode: child.exitCode ?? -1, output: stdout + stderr });
    });
  });
  const report: Report = JSON.parse(readFileSync(join(folder, 'out.json'), 'utf8'));
  const files = report.testResults.map((file) => ({ ...file, name: file.name.replace(`${folder}/`, '') }));
  const tests = files.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ ancestorTitles, title, status, failureMessages }) => {
      const said = status === 'failed' ? failureMessages.join('\n').replaceAll(folder, '.') : status;
      return [[name, ...ancestorTitles, title].join(' > '), said] as const;
    }),
  );
  const broken = files.filter(({ message }) => message !== '').map(({ name, message }) => [name, message]);
  return { exitCode, tests, broken: Object.fromEntries(broken), output };
}

/** Starts vitest as the leader of a process group of its own. */
export function startVitest(folder: string): {
  readonly pid: number;
  readonly ended: Promise<number | null>;
} {
  const child = spawn(vitest, ['run'], { cwd: folder, env: environment(), stdio: 'ignore', detached: true });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { pid: child.pid ?? 0, ended };
}

/** Without the variables of the vitest that runs this test. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env;
  return { PATH: `${dirname(process.execPath)}:${PATH}`, HOME, TMPDIR, NO_COLOR: '1' };
}
