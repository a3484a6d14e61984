import type { Answer } from '../../contract/hook.ts';
import { Json } from '../../json/json.ts';
import { partsOf } from '../../json/scan.ts';
import type { Decoded } from '../dialect.ts';
import type { Question } from '../foreign.ts';

/** Where a handler may leave variables for later shell commands. */
const events: ReadonlySet<string> = new Set(['SessionStart', 'Setup', 'CwdChanged', 'FileChanged']);

/** The file of the session that CLAUDE_ENV_FILE names at this event, if it names any. */
export function envFileOf({ point, scene }: Question): string | undefined {
  const file = scene.host['env_file'];
  return events.has(point) && typeof file === 'string' ? file : undefined;
}

/** Nothing in the file is run: whoever wants it reads in the metadata where it is. */
export function withEnvFile(question: Question, read: Decoded<Answer>): Decoded<Answer> {
  const env_file = envFileOf(question);
  if (env_file === undefined) return read;
  const { output } = read;
  return { ...read, output: { ...output, metadata: Json.from({ ...partsOf(output.metadata), env_file }) } };
}
