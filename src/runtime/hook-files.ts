import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { toRuntimeError } from '../base/errors.ts';
import { toFileName } from '../base/files/paths.ts';
import { makeTempFolder, removeTempFolder } from '../base/files/temp-folder.ts';
import { stringifyJson } from '../base/json/json.ts';
import type { GroupContext } from '../calls/hooks/group.ts';
import type { StateStoreConfig } from '../config/config.ts';
import type { ChatMessage } from '../contract/provider.ts';
import type { HookContext } from '../contract/turn.ts';
import { argsObject, toolCallsOf } from '../pipelines/state/requested-calls.ts';

export interface HookFiles extends Pick<GroupContext, 'prepare' | 'writeLongText'> {
  /** Removes the files, except long texts of stored runs. Never throws. */
  close(): void;
}

export interface HookFilesOptions {
  readonly report: (problem: string) => void;
  readonly aliasesOf?: (tool: string) => readonly string[] | undefined;
  /** The folder for long texts of stored runs, with a subfolder for each. Absent: they are temporary too. */
  readonly textsFolder?: string | undefined;
}

/** The files are private to this user; nothing is written before the first use. */
export function openHookFiles({
  report,
  aliasesOf = () => undefined,
  textsFolder: keptTexts,
}: HookFilesOptions): HookFiles {
  let folder: string | undefined;
  const tempFolder = () => {
    folder ??= makeTempFolder('hooks');
    return folder;
  };
  let textCount = 0;
  const attempt = <Result>(write: () => Result, otherwise: Result): Result => {
    try {
      return write();
    } catch (thrown) {
      report(`a file for hooks could not be written: ${toRuntimeError(thrown).message}`);
      return otherwise;
    }
  };
  const textFolder = ({ isKept, session_id }: HookContext): string => {
    if (isKept !== true || keptTexts === undefined) return tempFolder();
    const sessionFolder = join(keptTexts, session_id);
    mkdirSync(sessionFolder, { recursive: true, mode: 0o700 });
    return sessionFolder;
  };
  return {
    prepare: (scene, reader) =>
      attempt(() => {
        const sessionFolder = join(tempFolder(), toFileName(scene.session_id));
        const hookFolder = join(sessionFolder, reader.name);
        mkdirSync(hookFolder, { recursive: true, mode: 0o700 });
        const transcript = join(hookFolder, 'transcript.jsonl');
        // Outside a turn the messages are unknown, so an existing transcript is kept.
        if (scene.messages.length > 0 || !existsSync(transcript)) {
          const toldName = (tool: string) => reader.toolNameForHooks?.(tool, aliasesOf(tool)) ?? tool;
          // Written under another name and renamed, because a hook may be reading it.
          const lines = scene.messages.map((message) => toTranscriptLine(message, toldName));
          writeFileSync(`${transcript}.new`, lines.join(''), { mode: 0o600 });
          renameSync(`${transcript}.new`, transcript);
        }
        const envFile = join(sessionFolder, 'env');
        writeFileSync(envFile, '', { flag: 'a', mode: 0o600 });
        return { ...scene, transcript, host: { env_file: envFile, ...scene.host } };
      }, scene),
    writeLongText: (text, scene) =>
      attempt(() => {
        const file = nextFile(textFolder(scene), () => {
          textCount += 1;
          return textCount;
        });
        writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
        return `${text.slice(0, PREVIEW)}…\n[${text.length} characters, the whole text is in ${file}]`;
      }, text),
    close: () => {
      const hookFolder = folder;
      if (hookFolder !== undefined) attempt(() => removeTempFolder(hookFolder), undefined);
    },
  };
}

/** Removes the long texts of sessions for which `isThere` returns false. Rejects only if `isThere` does. */
export async function removeTexts(
  folder: string,
  isThere: (session: string) => Promise<boolean>,
): Promise<void> {
  for (const session of await readdir(folder).catch(() => [])) {
    if (!(await isThere(session)))
      await rm(join(folder, session), { recursive: true, force: true }).catch(() => {});
  }
}

/**
 * The folder for long texts of stored runs: beside a SQLite store, local to this machine for Postgres; undefined for
 * other stores.
 */
export function textsFolderOf(store: StateStoreConfig): string | undefined {
  if (store.type === 'postgres') return join(store.folder, 'runs.texts');
  return store.type === 'sqlite' ? `${store.file}.texts` : undefined;
}

const PREVIEW = 2_000;

function nextFile(folder: string, count: () => number): string {
  for (;;) {
    const file = join(folder, `context-${count()}.txt`);
    if (!existsSync(file)) return file;
  }
}

function toTranscriptLine(message: ChatMessage, toldName: (tool: string) => string): string {
  const { role, content } = message;
  const result = message['tool_result'];
  const text = content === '' ? [] : [{ type: 'text', text: content }];
  const type = role === 'tool' ? 'user' : role;
  const parts =
    role === 'tool'
      ? [{ type: 'tool_result', tool_use_id: toolUseIdOf(result), content }]
      : [
          ...text,
          ...toolCallsOf(message).map(({ id, name, args }) => {
            return { type: 'tool_use', id, name: toldName(name), input: argsObject(args) };
          }),
        ];
  return `${stringifyJson({ type, message: { role: type, content: parts } })}\n`;
}

function toolUseIdOf(result: unknown): string {
  const id: unknown = typeof result === 'object' && result !== null ? Reflect.get(result, 'id') : undefined;
  return typeof id === 'string' ? id : '';
}
