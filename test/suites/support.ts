import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { meetsThreshold } from '../../src/calls/capability/eval.ts';
import { type EvalOutcome, scored } from '../../src/contract/eval.ts';
import { emitNothing } from '../../src/contract/event.ts';
import type { EvalHostReply, EvalHostRequest, Suite } from '../../src/suites/file/model.ts';
import { requireSuite } from '../../src/suites/load.ts';
import type { SuiteReport } from '../../src/suites/record.ts';
import { toHeader } from '../../src/suites/run/keep-run.ts';
import { runSuite, type SuiteOptions } from '../../src/suites/suite-run.ts';

export function writeFiles(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'suite-'));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

export const header = 'apiVersion: signalbox/v1\nkind: EvalSuite\n';

export function loadSpec(spec: string, rows: string | Uint8Array = ''): Suite {
  const folder = writeFiles({ 'demo.suite.yaml': `${header}spec:\n${indent(spec)}`, 'rows.jsonl': rows });
  return requireSuite(join(folder, 'demo.suite.yaml'), undefined);
}

export function toLines(rows: readonly unknown[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

/** Passes scores that reach the threshold. */
export function judge({ threshold }: EvalHostRequest, outcome: EvalOutcome): Asked {
  return {
    outcome,
    passed: meetsThreshold(outcome, threshold),
    durationMs: 0,
    queueMs: 0,
    stderr: '',
    attempts: 1,
  };
}

export type Asked = EvalHostReply & { readonly attempts: number };

async function scoreByParam(evaluation: EvalHostRequest): Promise<Asked> {
  const { params } = evaluation.request;
  return judge(evaluation, scored('score' in params ? Number(params.score) : Number.NaN, ''));
}

/** Runs a suite, by default one case at a time and scored by its params. */
export function run(suite: Suite, options: Partial<SuiteOptions> = {}): Promise<SuiteReport> {
  return runSuite(suite, {
    header: toHeader(suite, 'demo-run', new Date(0), null),
    window: 1,
    emit: emitNothing,
    signal: new AbortController().signal,
    score: scoreByParam,
    subject: undefined,
    fire: async () => {
      throw new Error('this suite has no guard');
    },
    ...options,
  });
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}
