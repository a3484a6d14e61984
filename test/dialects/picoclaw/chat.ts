import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chatYaml, mockProvider, openProject, runtimeYaml } from '../project.ts';
import { messagesIn } from './scripts.ts';

export interface ChatOf {
  readonly hooks: readonly string[];
  readonly files: Readonly<Record<string, string>>;
  /** The model's answers, or all of `providers:`. */
  readonly responses: readonly string[] | string;
  readonly chat?: string;
  readonly pipeline?: string;
}

/** A tool that logs its text and succeeds. With the text `fail` it fails. */
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
    log: (name: string) => messagesIn(text(name)),
    ran: () => text('ran.log').split('\n').slice(0, -1),
  };
}
