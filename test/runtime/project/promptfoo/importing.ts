import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { parse } from 'yaml';
import { formatProblem } from '../../../../src/base/yaml/problem.ts';
import { importPromptfoo } from '../../../../src/suites/import/import-suite.ts';
import type { SuiteImport } from '../../../../src/suites/import/suite/suite.ts';

export function configFolder(config: string, files: Readonly<Record<string, string>> = {}): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'promptfoo-')));
  for (const [name, text] of Object.entries({ ...files, 'promptfooconfig.yaml': config })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

export async function imported(
  config: string,
  files: Readonly<Record<string, string>> = {},
): Promise<SuiteImport> {
  const folder = configFolder(config, files);
  return await importPromptfoo(join(folder, 'promptfooconfig.yaml'), join(folder, 'signalbox'));
}

/** The problems as printed, without folders and hints. */
export function told({ problems }: SuiteImport): readonly string[] {
  return problems.map((problem) => {
    const [line = ''] = formatProblem({ ...problem, file: basename(problem.file) }).split('\n');
    return line;
  });
}

export function written({ files }: SuiteImport, name: string) {
  return parse(files.find((file) => file.name === name)?.text ?? 'null');
}

export function rows({ files }: SuiteImport) {
  const text = files.find(({ name }) => name === 'cases.jsonl')?.text ?? '';
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
