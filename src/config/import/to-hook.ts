import { omitUndefined } from '../../yaml/present.ts';
import type { ExecConfig, ForeignHookConfig, StateStoreConfig } from '../config.ts';
import { agentaoStopCap } from '../foreign/agentao.ts';
import { claudeStopCap } from '../foreign/claude.ts';
import { pluginDataOf } from '../foreign/plugin-data.ts';
import type { PicoclawSettings } from '../foreign.ts';
import type { HandlerFolders } from '../placeholders.ts';
import type { AgentaoDraft, ClaudeDraft, HookDraft, PicoclawDraft } from './draft.ts';

/** The settings of an import for its hooks, and the name and index of this hook. */
export interface ImportedHookContext {
  readonly name: string;
  readonly fileIndex: number;
  readonly env: readonly string[];
  readonly onFailure: 'deny' | undefined;
  readonly wire: Pick<PicoclawSettings, 'version' | 'eventKind' | 'isLenient' | 'helloTimeoutMs'>;
  /** The config file’s folder and its store. */
  readonly folder: string;
  readonly store: StateStoreConfig;
}

/** The hook that a foreign file declares, as if `spec.hooks` did. */
export function toHook(draft: HookDraft, context: ImportedHookContext): ForeignHookConfig {
  const base = {
    name: context.name,
    fileIndex: context.fileIndex,
    source: draft.source,
  };
  const { onFailure } = context;
  if (draft.dialect === 'claude') {
    return {
      ...base,
      ...omitUndefined({ onFailure: draft.onFailure ?? onFailure }),
      ...toClaude(draft, context),
    };
  }
  const own = draft.dialect === 'agentao' ? toAgentao(draft, context) : toPicoclaw(draft, context);
  return { ...base, ...omitUndefined({ onFailure }), ...own };
}

function toClaude(draft: ClaudeDraft, context: ImportedHookContext) {
  const { event, matcher, condition, isAsync, run, timeoutMs } = draft;
  const shared = {
    event,
    ...omitUndefined({ matcher, condition }),
    isAsync,
    stopCap: claudeStopCap,
    ...withPluginData(draft.folders, context),
  };
  if (run.type === 'http') {
    const { type: _type, ...post } = run;
    const http = { ...post, env: context.env, ...omitUndefined({ timeoutMs }) };
    return { dialect: 'claude' as const, settings: { ...shared, http } };
  }
  const { command, args = [], shell } = run;
  const { projectDir: cwd } = draft.folders;
  const exec = { ...toExec(draft, context), command, args, cwd };
  return { dialect: 'claude' as const, exec, settings: { ...shared, ...omitUndefined({ shell }) } };
}

function withPluginData(folders: HandlerFolders, { store, folder }: ImportedHookContext): HandlerFolders {
  const { pluginRoot } = folders;
  return pluginRoot === undefined
    ? folders
    : { ...folders, pluginData: pluginDataOf(store, folder, pluginRoot) };
}

function toAgentao(draft: AgentaoDraft, context: ImportedHookContext) {
  const { event, matcher, command, prompt, projectDir } = draft;
  const exec = command === undefined ? {} : { exec: { ...toExec(draft, context), command, cwd: projectDir } };
  return {
    dialect: 'agentao' as const,
    ...exec,
    settings: {
      event,
      ...omitUndefined({ matcher, prompt, command }),
      stopReentryCap: agentaoStopCap,
      projectDir,
    },
  };
}

function toPicoclaw(draft: PicoclawDraft, context: ImportedHookContext) {
  const { command, args, dir, intercept, observe } = draft;
  const { interceptorTimeoutMs, approvalTimeoutMs, observerTimeoutMs } = draft;
  const exec: ExecConfig = {
    ...toExec({ ...draft, timeoutMs: interceptorTimeoutMs }, context),
    command,
    args,
    cwd: dir,
    runtime: 'server',
    env: [...context.env, ...draft.env],
  };
  const limits = { interceptorTimeoutMs, approvalTimeoutMs, observerTimeoutMs };
  return { dialect: 'picoclaw' as const, exec, settings: { ...context.wire, intercept, observe, ...limits } };
}

function toExec(
  {
    dialect,
    timeoutMs,
    commandPosition,
  }: Pick<ClaudeDraft, 'timeoutMs' | 'commandPosition'> & Pick<HookDraft, 'dialect'>,
  { env }: ImportedHookContext,
): ExecConfig {
  return {
    command: '',
    args: [],
    runtime: 'exec',
    env,
    dialect,
    ...omitUndefined({ timeoutMs }),
    position: commandPosition,
  };
}
