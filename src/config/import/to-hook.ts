import { present } from '../../yaml/present.ts';
import type { ExecConfig, ForeignHookConfig, StateStoreConfig } from '../config.ts';
import { agentaoStopCap } from '../foreign/agentao.ts';
import { claudeStopCap } from '../foreign/claude.ts';
import { pluginDataOf } from '../foreign/plugin-data.ts';
import type { PicoclawSettings } from '../foreign.ts';
import type { HandlerPlace } from '../placeholders.ts';
import type { AgentaoDraft, ClaudeDraft, Draft, PicoclawDraft } from './draft.ts';

/** What an import says of all its hooks, and where this one stands. */
export interface HookContext {
  readonly name: string;
  readonly place: number;
  readonly env: readonly string[];
  readonly onFailure: 'deny' | undefined;
  readonly wire: Pick<PicoclawSettings, 'version' | 'eventKind' | 'isLenient' | 'helloTimeoutMs'>;
  /** The config file’s folder and its store. */
  readonly folder: string;
  readonly store: StateStoreConfig;
}

/** The hook that a foreign file declares, as if `spec.hooks` did. */
export function toHook(draft: Draft, context: HookContext): ForeignHookConfig {
  const base = {
    name: context.name,
    place: context.place,
    source: draft.source,
  };
  const { onFailure } = context;
  if (draft.dialect === 'claude') {
    return { ...base, ...present({ onFailure: draft.onFailure ?? onFailure }), ...toClaude(draft, context) };
  }
  const own = draft.dialect === 'agentao' ? toAgentao(draft, context) : toPicoclaw(draft, context);
  return { ...base, ...present({ onFailure }), ...own };
}

function toClaude(draft: ClaudeDraft, context: HookContext) {
  const { event, matcher, condition, isAsync, run, timeoutMs } = draft;
  const shared = {
    event,
    ...present({ matcher, condition }),
    isAsync,
    stopCap: claudeStopCap,
    ...withPluginData(draft.place, context),
  };
  if (run.type === 'http') {
    const { type: _type, ...post } = run;
    const http = { ...post, env: context.env, ...present({ timeoutMs }) };
    return { dialect: 'claude' as const, settings: { ...shared, http } };
  }
  const { command, args = [], shell } = run;
  const { projectDir: cwd } = draft.place;
  const exec = { ...toExec(draft, context), command, args, cwd };
  return { dialect: 'claude' as const, exec, settings: { ...shared, ...present({ shell }) } };
}

function withPluginData(place: HandlerPlace, { store, folder }: HookContext): HandlerPlace {
  const { pluginRoot } = place;
  return pluginRoot === undefined ? place : { ...place, pluginData: pluginDataOf(store, folder, pluginRoot) };
}

function toAgentao(draft: AgentaoDraft, context: HookContext) {
  const { event, matcher, command, prompt, projectDir } = draft;
  const exec = command === undefined ? {} : { exec: { ...toExec(draft, context), command, cwd: projectDir } };
  return {
    dialect: 'agentao' as const,
    ...exec,
    settings: {
      event,
      ...present({ matcher, prompt, command }),
      stopReentryCap: agentaoStopCap,
      projectDir,
    },
  };
}

function toPicoclaw(draft: PicoclawDraft, context: HookContext) {
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
  }: Pick<ClaudeDraft, 'timeoutMs' | 'commandPosition'> & Pick<Draft, 'dialect'>,
  { env }: HookContext,
): ExecConfig {
  return {
    command: '',
    args: [],
    runtime: 'exec',
    env,
    dialect,
    ...present({ timeoutMs }),
    position: commandPosition,
  };
}
