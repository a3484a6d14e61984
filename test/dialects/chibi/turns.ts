import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RuntimeOptions } from '../../../src/index.ts';
import { chatYaml, mockProvider, openProject, runtimeYaml } from '../project.ts';
import { importPlugins, inFolder, schemaOf, shPlugin } from './plugins.ts';

const shell = shPlugin(schemaOf('unused', []), 'cat > "$CHIBI_PROJECT_ROOT/seen"; printf files');

export function project(
  plugins: Readonly<Record<string, string>>,
  {
    responses,
    tools = [],
    chat = '',
    timeoutMs = 30_000,
  }: { responses: readonly string[]; tools?: readonly string[]; chat?: string; timeoutMs?: number },
) {
  const imports = importPlugins.replace('}]', `, timeout_ms: ${timeoutMs}}]`);
  const offered = ['shell', ...tools].join(', ');
  const shellTool =
    'tools:\n  shell:\n    {description: d, input_schema: {type: object, properties: {command: {type: string}}}, exec: {command: ./shell}, dialect: chibi, category: shell}';
  return {
    'runtime.yaml': runtimeYaml(`${mockProvider(...responses)}${imports}\n${shellTool}`),
    'agent.pipeline.yaml': chatYaml(`tools: [${offered}]\nsystem: Base.\n${chat}`),
    shell,
    ...inFolder(plugins),
  };
}

interface Turn {
  readonly isAsked?: boolean;
  readonly text?: string;
}

export async function runTurn(
  files: Readonly<Record<string, string>>,
  { isAsked = true, text = 'hi', ...options }: Turn & RuntimeOptions = {},
) {
  const opened = await openProject(files, options);
  const { runtime, folder } = opened;
  const file = join(folder, 'agent.pipeline.yaml');
  const ask = async () => ({ kind: 'approved', args: null, by: 'amy', reason: '' }) as const;
  const run = await runtime.run(file, { text }, isAsked ? { ask } : {});
  /** The log of the plugins once the runtime is closed: point, space, payload. */
  const close = async () => {
    await runtime.close();
    const log = join(folder, 'log');
    const lines = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [];
    return lines.map((line) => {
      const at = line.indexOf(' ');
      return { point: line.slice(0, at), payload: JSON.parse(line.slice(at)) };
    });
  };
  return { ...opened, run, close };
}

const answers = (lines: Readonly<Record<string, object | string>>) =>
  `cat > /dev/null\ncase "$CHIBI_HOOK" in\n${Object.entries(lines)
    .map(
      ([point, says]) =>
        `  ${point}) printf '%s' '${typeof says === 'string' ? says : JSON.stringify(says)}' ;;`,
    )
    .join('\n')}\nesac`;

export const saying = (name: string, lines: Readonly<Record<string, object | string>>) =>
  shPlugin(schemaOf(name, Object.keys(lines)), answers(lines));
