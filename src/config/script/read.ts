import { basename } from 'node:path';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { choiceAt, nonEmptyTextAt } from '../../base/yaml/read.ts';
import { type ScriptLanguage, scriptLanguages, scriptPrograms } from './programs.ts';

/** An eval whose code stands in the config. */
interface InlineScript {
  readonly language: ScriptLanguage;
  readonly code: string;
  /** From the root of the document. */
  readonly path: Path;
}

/** The script of the eval at `path`; undefined of one with a `command`. */
export function findScriptAt(document: YamlDocument, path: Path): InlineScript | undefined {
  for (const language of scriptLanguages) {
    const at = [...path, 'script', language];
    const code = nonEmptyTextAt(document, at);
    if (code !== undefined) return { language, code, path: at };
  }
  return undefined;
}

/** The process that runs the script; its errors name the file and line at which it begins. */
export function readScript(document: YamlDocument, path: Path) {
  const script = findScriptAt(document, path);
  if (script === undefined) return undefined;
  const { command, args } = scriptPrograms[script.language];
  const position = document.positionOf(script.path);
  const place = `${basename(position.file)}:${position.line}`;
  const mode = choiceAt(document, [...path, 'runtime'], ['server']) ?? 'once';
  return { command, args: [...args, script.code, place, mode], position };
}
