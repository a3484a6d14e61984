import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder with a pipeline of twenty steps whose tools create one file for every effect. */
export interface Workshop {
  readonly config: string;
  readonly pipeline: string;
  effects(): string[];
  calls(): string[];
}

export function openWorkshop(): Workshop {
  const folder = mkdtempSync(join(tmpdir(), 'kill-'));
  const effects = join(folder, 'effects');
  mkdirSync(effects);
  const tool = join(folder, 'act.sh');
  writeFileSync(tool, act);
  chmodSync(tool, 0o755);
  const config = join(folder, 'runtime.yaml');
  const pipeline = join(folder, 'twenty.pipeline.yaml');
  writeFileSync(config, runtimeYaml(effects));
  writeFileSync(pipeline, pipelineYaml);
  writeFileSync(join(folder, 'item.pipeline.yaml'), itemYaml);
  writeFileSync(join(folder, 'part.pipeline.yaml'), partYaml);
  writeFileSync(join(folder, 'inner.pipeline.yaml'), innerYaml);
  return {
    config,
    pipeline,
    effects: () =>
      readdirSync(effects)
        .filter((name) => name.startsWith('effect-'))
        .sort(),
    calls: () => readFileSync(join(effects, 'calls'), 'utf8').split('\n').filter(Boolean),
  };
}

/**
 * Creates one file for each idempotency key, which the kernel allows only one process. An unapproved call of an item
 * that requires approval answers pending.
 */
const act = `#!/bin/sh
request=$(cat)
# Whoever is killed before it has written the request leaves a tool that reads nothing.
case "$request" in *'"idempotency_key":"run_'*) ;; *) exit 1 ;; esac
key=$(printf '%s' "$request" | sed 's/.*"idempotency_key":"\\([^"]*\\)".*/\\1/' | tr '/#[]' '____')
printf '%s\\n' "$key" >> "$EFFECTS/calls"
case "$request" in
  *'"asks":true'*'"approval"'*) ;;
  *'"asks":true'*) echo '{"pending": {"reason": "big", "message": "Shall I?"}}'; exit 0 ;;
esac
if (set -C; : > "$EFFECTS/effect-$key") 2>/dev/null; then first=true; else first=false; fi
printf '{"result": {"first": %s}}\\n' "$first"
`;

function runtimeYaml(effects: string): string {
  const exec = `exec: {command: ./act.sh, env: ["EFFECTS=${effects}"]}`;
  return `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  tools:
    act: {idempotent: true, ${exec}}
    act_with_consent: {idempotent: true, approval: required, ${exec}}
`;
}

const numbered = (ids: readonly string[]) =>
  ids.map((id) => `    - {id: ${id}, tool: act, args: {}}`).join('\n');

const pipelineYaml = `apiVersion: signalbox/v1
kind: Pipeline
metadata: {name: twenty}
spec:
  steps:
${numbered(['s1', 's2', 's3', 's4'])}
    - {id: s5, tool: act_with_consent, args: {}}
${numbered(['s6', 's7', 's8'])}
    - {id: s9, tool: act, args: {asks: true}}
    - id: s10
      parallel:
        - {id: s11, tool: act, args: {}}
        - {id: s12, tool: act_with_consent, args: {}}
        - {id: s13, tool: act, args: {asks: true}}
    - {id: s14, for_each: [1, 2, 3], concurrency: 2, pipeline: ./item.pipeline.yaml, input: {n: "\${item}"}}
    - {id: s15, pipeline: ./part.pipeline.yaml}
${numbered(['s18', 's19'])}
    - {id: s20, if: "\${steps.s19.result.first || true}", tool: act, args: {}}
`;

const headed = (name: string, steps: string) =>
  `apiVersion: signalbox/v1\nkind: Pipeline\nmetadata: {name: ${name}}\nspec:\n  steps:\n${steps}\n`;

/** Nested runs: one for each item, and one of two steps with a further run inside. */
const itemYaml = headed('item', '    - {id: act, tool: act, args: {n: "${input.n}"}}');
const partYaml = headed(
  'part',
  '    - {id: s16, tool: act, args: {}}\n    - {id: deep, pipeline: ./inner.pipeline.yaml}',
);
const innerYaml = headed('inner', '    - {id: s17, tool: act_with_consent, args: {}}');

/** Every tool step once, those in the loop three times. */
export const EFFECTS = 20;
export const PENDINGS = 5;
