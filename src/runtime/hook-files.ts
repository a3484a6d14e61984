import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { StateStoreConfig } from '../config/config.ts';
import type { ChatMessage } from '../contract/provider.ts';
import type { Scene } from '../contract/turn.ts';
import { toRuntimeError } from '../errors.ts';
import { toFileName } from '../files/file-name.ts';
import { makeTempFolder, removeTempFolder } from '../files/temp-folder.ts';
import type { GroupContext } from '../hooks/group.ts';
import { stringifyJson } from '../json/json.ts';
import { argsObject, toolCallsOf } from '../pipeline/chat/tool-calls.ts';

/** Writes down what hooks want to read from files, and what a model is to read from one. */
export interface Scribe extends Pick<GroupContext, 'prepare' | 'spill'> {
  /** Removes the files, but for those of conversations that are kept. Never rejects. */
  close(): void;
}

/** What a scribe is opened with. */
export interface ScribeContext {
  /** Told what could not be written; must not throw. */
  readonly tell: (problem: string) => void;
  /** The names that other systems have for a tool. */
  readonly aliasesOf?: (tool: string) => readonly string[] | undefined;
  /** Where long texts of conversations lie that are kept, a folder for each; absent: with the rest. */
  readonly kept?: string | undefined;
}

/** Files of one runtime, for its owner's eyes only; nothing is written before the first hook wants it. */
export function openScribe({ tell, aliasesOf = () => undefined, kept }: ScribeContext): Scribe {
  let folder: string | undefined;
  const home = () => {
    folder ??= makeTempFolder('hooks');
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
  /** A run that goes on elsewhere finds there what its messages name. */
  const shelf = ({ isKept, session_id }: Scene): string => {
    if (isKept !== true || kept === undefined) return home();
    const place = join(kept, session_id);
    mkdirSync(place, { recursive: true, mode: 0o700 });
    return place;
  };
  return {
    prepare: (scene, reader) =>
      attempt(() => {
        const place = join(home(), toFileName(scene.session_id));
        const own = join(place, reader.name);
        mkdirSync(own, { recursive: true, mode: 0o700 });
        const transcript = join(own, 'transcript.jsonl');
        // Outside of a turn nothing is known of its messages; what stands there stays.
        if (scene.messages.length > 0 || !existsSync(transcript)) {
          const toldName = (tool: string) => reader.toldName?.(tool, aliasesOf(tool)) ?? tool;
          // Somebody may be reading it.
          const lines = scene.messages.map((message) => toLine(message, toldName));
          writeFileSync(`${transcript}.new`, lines.join(''), { mode: 0o600 });
          renameSync(`${transcript}.new`, transcript);
        }
        const envFile = join(place, 'env');
        writeFileSync(envFile, '', { flag: 'a', mode: 0o600 });
        return { ...scene, transcript, host: { env_file: envFile, ...scene.host } };
      }, scene),
    spill: (text, scene) =>
      attempt(() => {
        const file = nextFile(shelf(scene), () => {
          spilt += 1;
          return spilt;
        });
        writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
        return `${text.slice(0, PREVIEW)}…\n[${text.length} characters, the whole text is in ${file}]`;
      }, text),
    close: () => {
      const own = folder;
      if (own !== undefined) attempt(() => removeTempFolder(own), undefined);
    },
  };
}

/** Removes the long texts of those conversations that are kept no more. Never rejects. */
export async function removeTexts(
  kept: string,
  isThere: (session: string) => Promise<boolean>,
): Promise<void> {
  for (const session of await readdir(kept).catch(() => [])) {
    if (!(await isThere(session)))
      await rm(join(kept, session), { recursive: true, force: true }).catch(() => {});
  }
}

/** Where long texts lie of the conversations that a store keeps; undefined where it keeps none. */
export function textsBeside(store: StateStoreConfig): string | undefined {
  return store.type === 'sqlite' ? `${store.file}.texts` : undefined;
}

const PREVIEW = 2_000;

/** A name that no earlier process has given in that folder. */
function nextFile(folder: string, count: () => number): string {
  for (;;) {
    const file = join(folder, `context-${count()}.txt`);
    if (!existsSync(file)) return file;
  }
}

/** One message as Claude Code's transcripts have it. Source: claude.md, section 4. */
function toLine(message: ChatMessage, toldName: (tool: string) => string): string {
  const { role, content } = message;
  const result = message['tool_result'];
  const text = content === '' ? [] : [{ type: 'text', text: content }];
  const type = role === 'tool' ? 'user' : role;
  const parts =
    role === 'tool'
      ? [{ type: 'tool_result', tool_use_id: idOf(result), content }]
      : [
          ...text,
          ...toolCallsOf(message).map(({ id, name, args }) => {
            return { type: 'tool_use', id, name: toldName(name), input: argsObject(args) };
          }),
        ];
  return `${stringifyJson({ type, message: { role: type, content: parts } })}\n`;
}

function idOf(result: unknown): string {
  const id: unknown = typeof result === 'object' && result !== null ? Reflect.get(result, 'id') : undefined;
  return typeof id === 'string' ? id : '';
}
