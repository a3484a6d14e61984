import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chatYaml, mockProvider, type OpenProject } from '../project.ts';
import { type Beside, openClaude } from './scripts.ts';

export const reminder = (text: string) => `<system-reminder>\n${text}\n</system-reminder>`;
export const callRun = (n: number) => `{when: round == ${n}, tool_calls: [{name: run, args: {command: ls}}]}`;
const runTool = `tools:
  run:
    description: d
    input_schema: {type: object, required: [command], properties: {command: {type: string}}}
    exec: {command: ./run.sh}
    aliases: [Bash]
`;
const runScript = `#!/bin/sh
cat > asked.json
echo '{"result": {"stdout": "1.10", "n": 12345678901234567890}}'
`;

interface Agent extends Beside {
  readonly responses: readonly string[];
  readonly chat?: string;
}

/** An agent with one tool, which hooks know as Bash. */
export async function openAgent(
  hooks: Readonly<Record<string, readonly object[]>>,
  { responses, chat = 'tools: [run]', spec = '', files = {}, ...beside }: Agent,
) {
  const project = await openClaude(hooks, {
    ...beside,
    spec: `${mockProvider(...responses)}${runTool}${spec}`,
    files: { 'run.sh': runScript, 'agent.pipeline.yaml': chatYaml(chat), ...files },
  });
  const pipeline = join(project.folder, 'agent.pipeline.yaml');
  const read = (name: string) => readFileSync(join(project.folder, name), 'utf8');
  return {
    ...project,
    run: async (text = 'hello') => await project.runtime.run(pipeline, { text }),
    read,
    payloads: (name: string): unknown[] =>
      read(name)
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
  };
}

export const output = (run: Awaited<ReturnType<OpenProject['runtime']['run']>>) =>
  JSON.parse(JSON.stringify(run.output));

export const spoken = (run: Awaited<ReturnType<OpenProject['runtime']['run']>>): string[] =>
  output(run).messages.map((each: { role: string; content: string }) => `${each.role}: ${each.content}`);

export const keep = (name: string) => `cat > ${name}; echo >> ${name}`;
