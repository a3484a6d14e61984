import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chatYaml, mockProvider, openProject, runtimeYaml } from '../project.ts';

/** A project with one chat. `hooks` and `spec` are YAML lines, `chat` further keys of the chat. */
export interface Agent {
  readonly hooks: string;
  readonly responses?: readonly string[];
  readonly scripts?: Readonly<Record<string, string>>;
  readonly chat?: string;
  readonly spec?: string;
}

/** Opens the project; its chat has `on_error: continue`. `read` returns the payloads that a rule has kept. */
export async function openAgent({
  hooks,
  responses = ['{text: never}'],
  scripts = {},
  chat = '',
  spec = '',
}: Agent) {
  const pipeline = chatYaml(chat)
    .replace('    - id: chat', '    - id: chat\n      on_error: continue')
    .replace(/output: .*/, 'output: "${steps.chat}"');
  const project = await openProject({
    'runtime.yaml': runtimeYaml(
      `state_store: {type: memory}\n${mockProvider(...responses)}hooks:\n${hooks}\n${spec}`,
    ),
    'agent.pipeline.yaml': pipeline,
    'plain.pipeline.yaml': chatYaml(chat),
    ...scripts,
  });
  const read = (name: string) => {
    const file = join(project.folder, `${name}.log`);
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
  };
  return { ...project, read };
}

export async function runTurn(agent: Agent) {
  const project = await openAgent(agent);
  const run = await project.runtime.run(join(project.folder, 'agent.pipeline.yaml'), { text: 'hello' });
  return { ...project, run, view: JSON.parse(JSON.stringify(run.output ?? null)) };
}

/** A script that appends each payload to a file, then runs this. */
export function script(body: string): string {
  return `#!/bin/sh\n{ cat; echo; } >> "$0.log"\n${body}\n`;
}

export function say(answer: unknown): string {
  return `echo '${JSON.stringify(answer)}'`;
}

export function rule(name: string, event: string, more = ''): string {
  return `  ${name}: {dialect: agentao, command: ./${name}.sh, agentao: {event: ${event}}${more}}`;
}

export function messagesOf(view: { readonly messages: { role: string; content: string }[] }): string[] {
  return view.messages.map(({ role, content }) => `${role}: ${content}`);
}

export const tool =
  'tools: {work: {description: Works., input_schema: {type: object}, exec: {command: ./work.sh}}}';
export const work = {
  'work.sh': '#!/bin/sh\n{ cat; echo; } >> "$0.log"\necho \'{"result": "done"}\'\n',
};
export const calls = '{tool_calls: [{name: work, args: {text: x}}]}';
