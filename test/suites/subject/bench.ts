import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { parseDocument } from '../../../src/base/yaml/document.ts';
import { requireConfig } from '../../../src/config/load.ts';
import type { RuntimeEvent } from '../../../src/contract/event.ts';
import { hostEnv } from '../../../src/process/env.ts';
import { openLauncher } from '../../../src/process/launch/native.ts';
import { openForeignLinks } from '../../../src/runtime/foreign-links.ts';
import { openHookFiles } from '../../../src/runtime/hook-files.ts';
import { openServices } from '../../../src/runtime/services.ts';
import { resolveEntries } from '../../../src/runtime/stages/resolve.ts';
import { createWiring } from '../../../src/runtime/stages/wire.ts';
import { openSubject } from '../../../src/suites/open-subject.ts';
import type { Answer, SubjectContext, SubjectRunner } from '../../../src/suites/subject/adapter.ts';
import { readSubject } from '../../../src/suites/subject/read-variants.ts';
import { findSubjectProblems } from '../../../src/suites/subject/validate-variants.ts';
import { write } from '../../runtime/open.ts';

export interface Bench {
  /** Opens a subject from YAML, like a suite in the folder. */
  subject(yaml: string, options?: Partial<SubjectContext>): SubjectRunner;
  readonly events: readonly RuntimeEvent[];
  readonly folder: string;
  /** The number of lines in a file of the folder. */
  count(name: string): number;
}

export async function openBench(spec: string, files: Readonly<Record<string, string>> = {}): Promise<Bench> {
  const file = write(spec, files);
  for (const name of Object.keys(files)) {
    if (name.endsWith('.sh')) chmodSync(join(dirname(file), name), 0o755);
  }
  return await openAt(file);
}

/** Opens an existing config, like the next run of a suite. */
export async function openAt(file: string): Promise<Bench> {
  const env = hostEnv();
  const folder = dirname(file);
  const config = requireConfig(file, env['PATH'] ?? '');
  const events: RuntimeEvent[] = [];
  const emit = (event: RuntimeEvent) => void events.push(event);
  const { prepare, writeLongText, close: forget } = openHookFiles({ report: () => {} });
  const workshop = createWiring(
    config,
    { launch: await openLauncher('auto'), emit, cassette: undefined, prepare, writeLongText },
    undefined,
  );
  const entries = resolveEntries(config, env);
  const links = workshop.links(entries, await openForeignLinks(entries.foreign, workshop.foreignWiring));
  const equipment = openServices({
    ...{
      config,
      links,
      emit,
      env,
      record: undefined,
      replay: undefined,
      rates: { of: () => undefined, streamsOf: () => undefined, close: async () => {} },
      requireOpen: () => {},
    },
    tools: new Map(
      entries.tools.map((tool) => [
        tool.config.name,
        workshop.callableTool(tool.config, tool.resolved, links),
      ]),
    ),
    evals: new Map(
      entries.evals.map(({ config: { name }, resolved }) => [name, workshop.evalPort(resolved)]),
    ),
  });
  onTestFinished(async () => {
    await Promise.all(workshop.observerQueues.map((follower) => follower.close()));
    await Promise.all(workshop.transports.map((transport) => transport.close()));
    await equipment.close();
    forget();
  });
  return {
    subject: (yaml, options = {}) => {
      const document = parseDocument(join(folder, 'demo.suite.yaml'), `spec:\n  subject:\n${indent(yaml)}`);
      expect([...document.problems, ...findSubjectProblems(document, ['spec', 'subject'], config)]).toEqual(
        [],
      );
      const context = { config, services: equipment, env, retries: 0, cache: undefined };
      return openSubject(readSubject(document, ['spec', 'subject']), { ...context, ...options });
    },
    events,
    folder,
    count: (name) => linesOf(join(folder, name)).length,
  };
}

function indent(yaml: string): string {
  return yaml.replaceAll(/^(?=.)/gm, '    ');
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}

export async function ask(
  subject: SubjectRunner,
  row: unknown,
  {
    epoch = 1,
    signal = new AbortController().signal,
  }: { readonly epoch?: number; readonly signal?: AbortSignal } = {},
): Promise<Answer> {
  return await subject.answer({ scope: { case: row, epoch }, epoch, signal });
}

/** The parts that do not depend on the clock; of an error its code and message. */
export function steady({ duration_ms: _duration, queue_ms: _queue, metadata, error, ...answer }: Answer) {
  const { latency_ms: _latency, ...rest } = metadata;
  return { ...answer, metadata: rest, ...(error && { error: `${error.code}: ${error.message}` }) };
}

export function writePipeline(folder: string, spec: string): void {
  const head = 'apiVersion: signalbox/v1\nkind: Pipeline\nspec:\n';
  writeFileSync(join(folder, 'demo.pipeline.yaml'), head + spec.replaceAll(/^(?=.)/gm, '  '));
}
