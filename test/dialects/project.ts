import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openRuntime, type Runtime, type RuntimeEvent, type RuntimeOptions } from '../../src/index.ts';

/** A folder with a runtime.yaml and other files; texts that begin with `#!` are executable. */
export function newProject(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'project-'));
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    if (text.startsWith('#!')) chmodSync(file, 0o755);
  }
  return folder;
}

export interface OpenProject {
  readonly folder: string;
  readonly runtime: Runtime;
  readonly events: readonly RuntimeEvent[];
  /** The hooks' verdicts so far, as `hook point verdict`. */
  verdicts(): string[];
  warnings(): string[];
}

/** Opens a project for one test. Its state is in memory unless the config says otherwise. */
export async function openProject(
  files: Readonly<Record<string, string>>,
  options: RuntimeOptions = {},
): Promise<OpenProject> {
  const folder = newProject(files);
  const events: RuntimeEvent[] = [];
  const runtime = await openRuntime(join(folder, 'runtime.yaml'), {
    log: false,
    onEvent: (event) => events.push(event),
    ...options,
  });
  onTestFinished(() => runtime.close());
  return {
    folder,
    runtime,
    events,
    verdicts: () =>
      events.flatMap((event) =>
        event.type === 'decision' ? [`${event.hook} ${event.point ?? event.phase} ${event.verdict}`] : [],
      ),
    warnings: () =>
      events.flatMap((event) => (event.type === 'note' && event.level === 'warn' ? [event.message] : [])),
  };
}

export function runtimeYaml(spec: string): string {
  const lines = spec.split('\n').map((line) => (line === '' ? '' : `  ${line}`));
  return [
    'apiVersion: signalbox/v1',
    'kind: RuntimeConfig',
    'metadata: {name: test}',
    'spec:',
    ...lines,
  ].join('\n');
}

/** A mock provider `main` with these responses, as YAML flow mappings. */
export function mockProvider(...responses: readonly string[]): string {
  const list = responses.map((response) => `      - ${response}`).join('\n');
  return `providers:\n  - id: main\n    type: mock\n    model: m\n    additional_config:\n      responses:\n${list}\n`;
}

/** A pipeline of one chat with `main`. `chat` are further keys of it, as YAML lines. */
export function chatYaml(chat = ''): string {
  const lines = chat.split('\n').map((line) => (line === '' ? '' : `        ${line}`));
  return [
    ...[
      'apiVersion: signalbox/v1',
      'kind: Pipeline',
      'metadata: {name: agent}',
      'spec:',
      '  runtime: ./runtime.yaml',
    ],
    ...['  steps:', '    - id: chat', '      chat:', '        provider: main'],
    ...['        messages: [{role: user, content: "${input.text}"}]', ...lines],
    ...[
      '  output: {text: "${steps.chat.text}", messages: "${steps.chat.messages}", calls: "${steps.chat.tool_calls}"}',
    ],
  ].join('\n');
}
