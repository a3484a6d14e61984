import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { RuntimeError } from '../../src/base/errors.ts';
import { writeInside } from '../../src/base/files/write-inside.ts';
import { validateFile } from '../../src/runtime/validate-file.ts';
import { importPromptfoo } from '../../src/suites/import/import-suite.ts';

// node test/tools/promptfoo-tally.ts FOLDER imports every promptfoo config in a folder and validates every suite that
// is written. Exit code 1: an import failed, or a suite is invalid.

interface Outcome {
  readonly file: string;
  readonly status: 'whole' | 'partly' | 'none' | 'refused' | 'crashed';
  /** The reasons for omissions, without places and names. */
  readonly reasons: readonly string[];
  readonly hasWarnings: boolean;
  readonly invalid: readonly string[];
}

export async function tally(folder: string): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const file of globSync('**/*.{yaml,yml,json}', { cwd: folder }).toSorted())
    if (isConfig(join(folder, file))) outcomes.push({ ...(await outcomeOf(join(folder, file))), file });
  return outcomes;
}

function isConfig(file: string): boolean {
  const text = readFileSync(file, 'utf8');
  return (
    /^["{\s]*(?:prompts|providers|targets)["]?\s*:/m.test(text) &&
    /(?:prompts|tests|redteam)["]?\s*:/.test(text)
  );
}

async function outcomeOf(file: string): Promise<Omit<Outcome, 'file'>> {
  const output = mkdtempSync(join(tmpdir(), 'promptfoo-tally-'));
  try {
    const found = await importPromptfoo(file, output);
    writeInside(output, found.files, true);
    const invalid: string[] = [];
    for (const name of found.files.map((each) => each.name).filter((each) => each.endsWith('.yaml'))) {
      const problems = await validateFile(join(output, name), join(output, 'runtime.yaml'));
      invalid.push(
        ...problems.flatMap(({ severity, message }) => (severity === 'error' ? [`${name}: ${message}`] : [])),
      );
    }
    const left = found.problems.filter(({ severity }) => severity === 'error');
    return {
      status: found.status,
      reasons: [...new Set(left.map(({ message }) => reasonOf(message)))],
      hasWarnings: found.problems.some(({ severity }) => severity === 'warning'),
      invalid,
    };
  } catch (thrown) {
    const isRefused = thrown instanceof RuntimeError && thrown.code !== 'INTERNAL';
    const reason = isRefused ? thrown.code : `crash: ${String(thrown).slice(0, 200)}`;
    return { status: isRefused ? 'refused' : 'crashed', reasons: [reason], hasWarnings: false, invalid: [] };
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

function reasonOf(message: string): string {
  return message
    .replace(/^\S*file:\/\/\S+|^\S+\.(?:txt|md|csv|json|ya?ml|py|js|ts|cjs|mjs)\S*/, 'FILE')
    .replace(/(?:file:\/\/)?\S+\/\S+/, 'FILE')
    .replace(/the variable FILE/, 'a variable FILE');
}

/** Lines of counts: the outcomes, then the reasons by their number of configs. */
export function summaryOf(outcomes: readonly Outcome[]): string {
  const count = (status: Outcome['status']) => outcomes.filter((each) => each.status === status);
  const whole = count('whole');
  const reasons = new Map<string, number>();
  for (const reason of outcomes.flatMap((each) => each.reasons))
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  const sorted = [...reasons].toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return [
    `of ${outcomes.length}: whole ${whole.length} (${whole.filter(({ hasWarnings }) => hasWarnings).length} with warnings), partly ${count('partly').length}, none ${count('none').length}, refused ${count('refused').length}, crashed ${count('crashed').length}`,
    ...outcomes.flatMap(({ file, invalid }) => invalid.map((message) => `not valid: ${file}: ${message}`)),
    ...count('crashed').map(({ file, reasons: [reason] }) => `crashed: ${file}: ${reason}`),
    ...sorted.map(([reason, configs]) => `${String(configs).padStart(5)}  ${reason}`),
  ].join('\n');
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const outcomes = await tally(process.argv[2] ?? '.');
  console.log(summaryOf(outcomes));
  if (process.argv.includes('--files'))
    for (const { file, status, reasons } of outcomes)
      console.log(`${status}\t${file}\t${reasons.join(' | ')}`);
  if (outcomes.some(({ status, invalid }) => status === 'crashed' || invalid.length > 0))
    process.exitCode = 1;
}
