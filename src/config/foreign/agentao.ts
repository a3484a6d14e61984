import { isObject } from '../../json/json.ts';
import type { Path, YamlDocument } from '../../yaml/document.ts';
import { present } from '../../yaml/present.ts';
import { textAt, valueAt, wholeAt } from '../../yaml/read.ts';
import type { AgentaoHookConfig } from '../config.ts';
import type { EntryContext } from './context.ts';

/** Forces of one user turn after which Agentao lets a turn end. Source: `stop_reentry_cap`. */
export const agentaoStopCap = 3;

/** The Agentao rule that an entry of `spec.hooks` declares. */
export function readAgentao(
  document: YamlDocument,
  path: Path,
  { exec, folder }: EntryContext,
): Pick<AgentaoHookConfig, 'dialect' | 'exec' | 'settings'> {
  const block = [...path, 'agentao'];
  const matcher = valueAt(document, [...block, 'matcher']);
  const prompt = textAt(document, [...block, 'prompt']);
  return {
    dialect: 'agentao',
    ...(prompt === undefined ? { exec } : {}),
    settings: {
      event: textAt(document, [...block, 'event']) ?? '',
      ...present({
        matcher: isObject(matcher) ? matcher : undefined,
        prompt,
        command: prompt === undefined ? exec.command : undefined,
      }),
      stopReentryCap: wholeAt(document, [...block, 'stop_reentry_cap'], 0) ?? agentaoStopCap,
      projectDir: folder,
    },
  };
}
