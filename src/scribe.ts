import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GroupContext } from './capability/group.ts';
import type { ChatMessage } from './contract/provider.ts';
import { toRuntimeError } from './errors.ts';
import { toFileName } from './file-name.ts';
import { stringifyJson } from './json.ts';
import { toolCallsOf } from './pipeline/tool-calls.ts';

/** Writes down what hooks want to read from files. */
export interface Scribe extends Pick<GroupContext, 'prepare' | 'spill'> {
  /** Removes the files. Never rejects. */
  close(): void;
}

/** Files of one runtime, for its owner's eyes only; nothing is written before the first hook wants it. */
export function openScribe(tell: (problem: string) => void): Scribe {
  let folder: string | undefined;
  const home = () => {
    folder ??= mkdtempSync(join(tmpdir(), 'signalbox-hooks-'));
    return folder;
  };
  let spilt = 0;
  const attempt = <Result>(write: () => Result, otherwise: Result): Result => {
    try {
      return write();
    } catch (thrown) {
      tell(`a file for hooks could not be written: ${toRuntimeError(thrown).message}`);
      return otherwise;
    }
  };
  return {
    prepare: (scene) =>
      attempt(() => {
        const place = join(home(), toFileName(scene.session_id));
        mkdirSync(place, { recursive: true, mode: 0o700 });
        const transcript = join(place, 'transcript.jsonl');
        // Outside of a turn nothing is known of its messages; what stands there stays.
        if (scene.messages.length > 0 || !existsSync(transcript)) {
          // Somebody may be reading it.
          writeFileSync(`${transcript}.new`, scene.messages.map(toLine).join(''), { mode: 0o600 });
          renameSync(`${transcript}.new`, transcript);
        }
        const envFile = join(place, 'env');
        writeFileSync(envFile, '', { flag: 'a', mode: 0o600 });
        return { ...scene, transcript, host: { env_file: envFile, ...scene.host } };
      }, scene),
    spill: (text) =>
      attempt(() => {
        spilt += 1;
        const file = join(home(), `context-${spilt}.txt`);
        writeFileSync(file, text, { mode: 0o600 });
        return `${text.slice(0, PREVIEW)}…\n[${text.length} characters, the whole text is in ${file}]`;
      }, text),
    close: () => {
      if (folder !== undefined)
        attempt(() => rmSync(folder ?? '', { recursive: true, force: true }), undefined);
    },
  };
}

const PREVIEW = 2_000;

/** One message as Claude Code's transcripts have it. Source: claude.md, section 4. */
function toLine(message: ChatMessage): string {
  const { role, content } = message;
  const result = message['tool_result'];
  const text = content === '' ? [] : [{ type: 'text', text: content }];
  const type = role === 'tool' ? 'user' : role;
  const parts =
    role === 'tool'
      ? [{ type: 'tool_result', tool_use_id: idOf(result), content }]
      : [
          ...text,
          ...toolCallsOf(message).map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
        ];
  return `${stringifyJson({ type, message: { role: type, content: parts } })}\n`;
}

function idOf(result: unknown): string {
  const id: unknown = typeof result === 'object' && result !== null ? Reflect.get(result, 'id') : undefined;
  return typeof id === 'string' ? id : '';
}
