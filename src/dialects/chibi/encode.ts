import { resolve } from 'node:path';
import type { Message } from '../../contract/exchange.ts';
import { stringifyJson } from '../../json/json.ts';
import type { HookEntry, Payload, Question } from '../foreign-dialect.ts';
import { textAt, toPlainValue } from '../payload.ts';
import type { ChibiSettings } from './config/settings.ts';
import { sortJson } from './sorted-json.ts';

/** Variables of chibi's older versions, whose absence plugins test. */
export const retiredVariables = { CHIBI_TOOL_ARGS: undefined, CHIBI_HOOK_DATA: undefined } as const;

/** The event on stdin without a newline behind it, the point in CHIBI_HOOK. Source: docs/hooks.md. */
export function encode(
  { settings }: HookEntry<ChibiSettings>,
  { point, payload, hookContext }: Question,
): Message {
  const context = toPlainValue(payload['context_name'] ?? hookContext.context_name);
  return {
    method: point,
    body: sortJson(stringifyJson(withFolders(point, payload, settings))),
    terminator: '',
    env: {
      ...retiredVariables,
      CHIBI_HOOK: point,
      CHIBI_TOOL_NAME: undefined,
      CHIBI_CONTEXT: (typeof context === 'string' && context) || undefined,
    },
  };
}

/** What only the plugin's own entry knows: chibi's folders, and where relative paths start. */
function withFolders(point: string, payload: Payload, { chibiHome, projectRoot }: ChibiSettings): Payload {
  switch (point) {
    case 'on_start':
    case 'on_end':
      return { chibi_home: chibiHome, project_root: projectRoot, ...payload };
    case 'pre_file_read':
    case 'pre_file_write':
      return { ...payload, path: resolve(projectRoot, textAt(payload, 'path') ?? '') };
    default:
      return payload;
  }
}
