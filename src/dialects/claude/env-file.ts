import type { Answer } from '../../contract/hook.ts';
import { Json } from '../../json/json.ts';
import { membersOf } from '../../json/scan.ts';
import type { Decoded } from '../dialect.ts';
import type { Question } from '../foreign-dialect.ts';

/** The events whose handlers may write variables to CLAUDE_ENV_FILE. */
const eventsWithEnvFile: ReadonlySet<string> = new Set([
  'SessionStart',
  'Setup',
  'CwdChanged',
  'FileChanged',
]);

/** The file of the session that CLAUDE_ENV_FILE names at this event, if it names any. */
export function envFileOf({ point, hookContext }: Question): string | undefined {
  const file = hookContext.host['env_file'];
  return eventsWithEnvFile.has(point) && typeof file === 'string' ? file : undefined;
}

/** Adds the path of the env file to the metadata. The file itself is not executed. */
export function withEnvFile(question: Question, read: Decoded<Answer>): Decoded<Answer> {
  const env_file = envFileOf(question);
  if (env_file === undefined) return read;
  const { output } = read;
  return { ...read, output: { ...output, metadata: Json.from({ ...membersOf(output.metadata), env_file }) } };
}
