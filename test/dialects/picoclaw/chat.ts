import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chatYaml, mockProvider, openProject, runtimeYaml } from '../project.ts';
import { messagesIn } from './scripts.ts';

export interface ChatOf {
  /** Lines under `hooks:`, as `entry` makes them. */
  readonly hooks: readonly string[];
  /** Their scripts, by file name. */
  readonly files: Readonly<Record<string, string>>;
  /** What the model answers, or the whole of `providers:`. */
  readonly responses: readonly string[] | string;
  /** Further keys of the chat. */
  readonly chat?: string;
  readonly pipeline?: string;
}

/** A tool that writes down its text, and answers that it ran; with the text `fail` it fails. */
const echo = `#!/bin/sh
read -r line
text=\${line#*'"text":'}
text=\${text#*'"'}
text=\${text%%'"'*}
printf '%s\\n' "$text" >>ran.log
case "$text" in fail) echo broken >&2; exit 3 ;; wait) echo '{"pending":{"reason":"r","message":"m"}}' ;;
*) printf '{"result":"ran %s"}' "$text" ;; esac`;

const tools = ['echo', 'shout']
  .map(
    (name) =>
      `  ${name}: {description: Says it., input_schema: {type: object, required: [text], properties: {text: {type: string}}}, exec: {command: ./echo}}`,
  )
  .join('\n');

/** One chat about "hello", with the tools `echo` and `shout`, through real hooks. */
export async function openChat({ hooks, files, responses, chat = '', pipeline }: ChatOf) {
  const provider = typeof responses === 'string' ? responses : mockProvider(...responses);
  const spec = [provider, 'tools:', tools, 'hooks:', ...hooks].join('\n');
  const project = await openProject({
    'runtime.yaml': runtimeYaml(spec),
    'agent.pipeline.yaml':
      pipeline ?? chatYaml(['tools: [echo, shout]', 'system: Be kind.', chat].join('\n')),
    echo,
    ...files,
  });
  const path = (name: string) => join(project.folder, name);
  const text = (name: string) => (existsSync(path(name)) ? readFileSync(path(name), 'utf8') : '');
  return {
    ...project,
    run: async () => await project.runtime.run(path('agent.pipeline.yaml'), { text: 'hello' }),
    /** What was said to a hook that keeps a log. */
    log: (name: string) => messagesIn(text(name)),
    /** The texts that the tools ran with. */
    ran: () => text('ran.log').split('\n').slice(0, -1),
  };
}
