import { isObject } from '../../../json/json.ts';
import type { Path, YamlDocument } from '../../../yaml/document.ts';
import { omitUndefined } from '../../../yaml/present.ts';
import { integerAt, textAt, valueAt } from '../../../yaml/read.ts';
import type { EntryContext, EntryReading } from '../../dialect-config.ts';
import type { AgentaoSettings } from './settings.ts';

/** Forced continuations of one user turn after which Agentao ends the turn. Source: `stop_reentry_cap`. */
export const agentaoStopCap = 3;

/** The Agentao rule that an entry of `spec.hooks` declares. */
export function readEntry(
  document: YamlDocument,
  path: Path,
  { exec, folder }: EntryContext,
): EntryReading<AgentaoSettings> {
  const block = [...path, 'agentao'];
  const matcher = valueAt(document, [...block, 'matcher']);
  const prompt = textAt(document, [...block, 'prompt']);
  return {
    ...(prompt === undefined ? { exec } : {}),
    settings: {
      event: textAt(document, [...block, 'event']) ?? '',
      ...omitUndefined({
        matcher: isObject(matcher) ? matcher : undefined,
        prompt,
        command: prompt === undefined ? exec.command : undefined,
      }),
      stopReentryCap: integerAt(document, [...block, 'stop_reentry_cap'], 0) ?? agentaoStopCap,
      projectDir: folder,
    },
  };
}
