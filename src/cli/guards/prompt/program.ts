import { RuntimeError, toRuntimeError } from '../../../base/errors.ts';
import { isObject } from '../../../base/json/json.ts';
import type { Invocation } from '../../../builtins/guards/program/program.ts';
import { readSettings } from '../../../builtins/guards/prompt/settings.ts';
import { configFiles, guardHost } from '../host.ts';
import { help } from './help.ts';

const name = 'signalbox-prompt';

/** Asks the model about the event on stdin. Resolves to the exit code: 0 to go on, 2 for whatever else happens. */
export async function main({ argv, stdin, stdout, printError, env }: Invocation): Promise<0 | 2> {
  if (argv.includes('--help') || argv.includes('-h')) {
    stdout.write(help());
    return 0;
  }
  try {
    const settings = readSettings(argv, { ...guardHost(env), openJudge: (...judge) => judge });
    const event = await readEvent(stdin);
    const { openPromptJudge } = await import('../../../runtime/judge/prompt-judge.ts');
    const [config, provider] = settings.judge;
    const ask = openPromptJudge(configFiles(config), provider, env);
    // Whoever waits has waited since the process was started.
    const timeoutMs = Math.max(1, Math.floor(settings.timeoutMs - performance.now()));
    const reason = await ask({ prompt: settings.prompt, event, timeoutMs });
    if (reason === undefined) return 0;
    printError(reason);
  } catch (error) {
    const { code, message, hint } = toRuntimeError(error);
    printError(`${name}: [${code}] ${message}${hint === undefined ? '' : `. ${hint}`}`);
  }
  return 2;
}

/** The longest event that a model is asked about, in bytes. */
const LONGEST = 1 << 20;

/** The event, as its own JSON. Throws EVENT_INVALID. */
async function readEvent(stdin: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stdin) {
    length += chunk.length;
    if (length > LONGEST) throw new RuntimeError('EVENT_INVALID', `the event has more than ${LONGEST} bytes`);
    chunks.push(chunk);
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
    if (isObject(JSON.parse(text))) return text.trim();
  } catch {
    // The error of the parser would quote the event.
  }
  throw new RuntimeError('EVENT_INVALID', 'stdin is not one JSON object in UTF-8');
}
