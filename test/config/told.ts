import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Problem } from '../../src/base/yaml/problem.ts';
import type { GatewayConfig, McpConfig, RuntimeConfig } from '../../src/config/config.ts';
import { type LoadOptions, loadConfig } from '../../src/config/load.ts';
import { makeSharedFolder } from '../shared-folder.ts';

export const native = 'signalbox/v1';
export const promptkit = 'promptkit.altairalabs.ai/v1alpha1';

export const folder = makeSharedFolder('config-');
export const searchPath = process.env.PATH ?? '';

export function write(name: string, text: string | Uint8Array): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** A RuntimeConfig with that `spec` (YAML lines), which is on line 3. */
export function configText(apiVersion: string, spec: string): string {
  return `apiVersion: ${apiVersion}\nkind: RuntimeConfig\nspec:${spec.replaceAll('\n', '\n  ')}\n`;
}

/** Loads that text. Problems read `severity LINE:COL message | hint`. */
export function told(
  text: string | Uint8Array,
  options: LoadOptions = {},
): { config: RuntimeConfig | undefined; problems: string[] } {
  const { config, problems } = loadConfig(write('runtime.yaml', text), searchPath, options);
  return { config, problems: problems.map(line) };
}

export function line({ severity, line, column, message, hint }: Problem): string {
  const text = `${severity} ${line}:${column} ${message}`;
  return hint === undefined ? text : `${text} | ${hint}`;
}

export const usualMcp: McpConfig = {
  tools: ['*'],
  decide: 'operators',
  maxMessageBytes: 8_388_608,
  auth: {},
};

export const usualGateway: GatewayConfig = {
  listen: { host: '127.0.0.1', port: 8787 },
  hooks: new Map(),
  onDeny: 'error',
  stream: 'hold',
  window: 200,
  judge: new Map(),
  opaque: [],
  references: [],
  embeddings: { redact: false },
  tools: { hooks: false, pending: 'refuse', holdMs: 120_000 },
  passThrough: [],
  forwardHeaders: [],
  limits: {
    bodyBytes: 33_554_432,
    answerBytes: 67_108_864,
    depth: 128,
    headersMs: 15_000,
    requestMs: 60_000,
    upstreamMs: 300_000,
    answerMs: 3_600_000,
    idleMs: 120_000,
    connections: 8192,
    heldBytes: 16_777_216,
    totalHeldBytes: 536_870_912,
  },
  keys: {},
  drainMs: 30_000,
};
