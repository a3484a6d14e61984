import type { Decision, HookEvent, Respond } from '../contract/hook.ts';
import { failed } from '../contract/tool.ts';
import { bareScene, type Scene } from '../contract/turn.ts';
import { mergeMetadata } from '../dialects/metadata.ts';
import { toFault } from '../errors.ts';
import { type CallPaused, type CallResult, noMetadata, paused, settled } from '../hooks/call-result.ts';
import { type Passage, passGate } from '../hooks/gate.ts';
import { isObject, type Json } from '../json/json.ts';
import { answerFor, block } from './after.ts';
import { type Consent, hasConsent } from './allowance.ts';
import {
  argsOf,
  type Before,
  type Call,
  type CallableTool,
  namesOf,
  pausedBefore,
  readCheckedArgs,
  requestOf,
} from './callable.ts';

/**
 * Takes a call through its before_execution filters, then past the hooks that must approve it as they left it; some
 * of their questions have been answered already.
 */
export async function passBefore(call: Call, args: Json, consents: readonly Consent[] = []): Promise<Before> {
  const first = { call, asked: args, args, metadata: noMetadata, context: [] };
  const before = await passAll(first, { consents, rewritten: [] });
  if (before.stopped !== undefined || before.rewritten.length === 0) return before;
  // Who answers in a person's place and changes the call has changed what the filters have judged.
  const answered = before.rewritten.map((hook) => ({ hook, args: before.args }));
  const again = await passAll(before, { consents: [...consents, ...answered], rewritten: [] });
  if (again.stopped !== undefined || again.rewritten.length === 0) return again;
  const reason = 'the call was changed a second time in a person’s place';
  return { ...again, stopped: await block(again, denialOf(again.rewritten[0], reason), 'before_execution') };
}

/** What questions of the filters have been answered, and those whose answer changed the call. */
interface Asking {
  readonly consents: readonly Consent[];
  readonly rewritten: string[];
}

async function passAll(before: Before, asking: Asking): Promise<Before & Pick<Asking, 'rewritten'>> {
  const passed = await passFilters(before, asking);
  const approved = passed.stopped === undefined ? await passApprovers(passed, asking) : passed;
  return { ...approved, rewritten: asking.rewritten };
}

function denialOf(hook: string | undefined, reason: string): Decision {
  return {
    ...{ verdict: 'deny', hook: hook ?? null, dialect: null, reason, enforced: false },
    ...{ replace: null, result: null, context: [], abort: null, metadata: noMetadata },
  };
}

async function passFilters(before: Before, asking: Asking, isRenamed = false): Promise<Before> {
  const { call, args } = before;
  const { tool } = call;
  const { decision, event, respond } = await passGate(
    tool.links,
    { hook: 'tool', phase: 'before_execution', request: requestOf(call, args) },
    { ...passageOf(before, asking), check: (changed) => checkChangedArgs(tool, changed) },
  );
  const passed = goOn(before, decision, event);
  if (decision.verdict !== 'allow' && decision.verdict !== 'modify') {
    return { ...passed, stopped: await stop(passed, decision, { respond, stage: 'before_execution' }) };
  }
  const name = event.phase === 'before_execution' ? event.request.name : tool.name;
  if (name === tool.name) return passed;
  if (isRenamed)
    return { ...passed, stopped: await block(passed, renamedTwice(decision, name), 'before_execution') };
  return await rename(passed, { name, asking });
}

/** Filters that let another tool pass have not judged this one: all of them are asked again. */
async function rename(
  before: Before,
  { name, asking }: { readonly name: string; readonly asking: Asking },
): Promise<Before> {
  const { call, args } = before;
  const tool = call.find?.(name) ?? unknownTool(name, call.tool);
  const renamed = { ...call, tool };
  try {
    return await passFilters(
      { ...before, call: renamed, args: readCheckedArgs(tool, args.text) },
      asking,
      true,
    );
  } catch (error) {
    return { ...before, call: renamed, stopped: settled(namesOf(renamed), failed(toFault(error))) };
  }
}

/** A tool that nobody declared; hooks may answer in its place. */
export function unknownTool(name: string, { links }: Pick<CallableTool, 'links'>): CallableTool {
  return { name, port: undefined, checkArgs: () => [], checkResult: () => [], links, isUnknown: true };
}

function renamedTwice(decision: Decision, name: string): Decision {
  const reason = `the call was renamed a second time, to "${name}"`;
  return { ...decision, verdict: 'deny', replace: null, reason };
}

async function passApprovers(before: Before, asking: Asking): Promise<Before> {
  const { call, args } = before;
  const { decision, event } = await passGate(
    call.tool.links,
    { hook: 'tool', phase: 'approval', request: requestOf(call, args), asked: null },
    {
      ...passageOf(before, asking),
      scene: withRealPath(before),
      check: (changed) => checkChangedArgs(call.tool, changed),
    },
  );
  const passed = goOn(before, decision, event);
  const isPassed = decision.verdict === 'allow' || decision.verdict === 'modify';
  return isPassed ? passed : { ...passed, stopped: await stop(passed, decision, { stage: 'approval' }) };
}

/** Some hooks are asked by where a path really leads. */
function withRealPath({ call: { scene, tool, callId }, args }: Before): Scene | undefined {
  const realPath = tool.findPath?.(args);
  return realPath === undefined ? scene : { ...(scene ?? bareScene(callId)), realPath };
}

function passageOf({ call, args }: Before, { consents, rewritten }: Asking): Passage {
  const { callId, signal, scene, tool } = call;
  return {
    call: callId,
    signal,
    scene,
    hasConsent: (hook, event) => hasConsent(consents, hook, argsOf(event, args)),
    onAsk: async ({ hook, reason, event }) => {
      const request = requestOf(call, argsOf(event, args));
      const asking = { hook: 'tool', phase: 'approval', request, asked: { hook, reason } } as const;
      const { decision } = await passGate(tool.links, asking, { call: callId, signal, scene });
      if (decision.verdict === 'modify') rewritten.push(hook);
      return decision;
    },
  };
}

function goOn(before: Before, decision: Decision, event: HookEvent): Before {
  return {
    ...before,
    args: argsOf(event, before.args),
    metadata: mergeMetadata([before.metadata, decision.metadata]),
    context: [...before.context, ...decision.context],
  };
}

interface Stopping {
  readonly stage: 'before_execution' | 'approval';
  readonly respond?: Respond | undefined;
}

async function stop(before: Before, decision: Decision, { stage, respond }: Stopping): Promise<CallResult> {
  switch (decision.verdict) {
    case 'ask': {
      const unasked = unaskedOf(before.call, decision);
      if (unasked !== undefined)
        return await block(before, { ...decision, verdict: 'deny', replace: null, reason: unasked }, stage);
      return askPerson(before, decision);
    }
    case 'respond':
      return respond === undefined
        ? await block(before, { ...decision, reason: 'an answer has no meaning here' }, stage)
        : await answerFor(before, { respond, dialect: decision.dialect });
    default:
      return await block(before, decision, stage);
  }
}

/** Why the call is denied rather than kept, where nobody will ever answer the question. */
function unaskedOf({ tool, isUnattended }: Call, { dialect }: Decision): string | undefined {
  if (isUnattended !== true) return undefined;
  const groups = tool.links.flatMap((link) => ('group' in link ? [link.group] : []));
  return groups.find((group) => group.dialect.name === dialect)?.dialect.unasked;
}

function askPerson({ call, args }: Before, { hook, reason, metadata }: Decision): CallResult {
  const { source } = isObject(metadata.value) ? metadata.value : {};
  const place = typeof source === 'string' ? ` (${source})` : '';
  const message = `Hook "${hook}"${place} asks whether tool "${call.tool.name}" may run.`;
  const pause: CallPaused = { ...pausedBefore(call, args), origin: 'hook', hook, reason, message };
  return paused(namesOf(call), pause, metadata);
}

/** The pause that the config's `approval` asks for before the tool is given these arguments, if it does. */
export function askConsent({ call, args, metadata }: Before): CallResult | undefined {
  const needed = call.tool.approval?.(args);
  if (needed === undefined) return undefined;
  const { reason, message } = needed;
  const pause: CallPaused = { ...pausedBefore(call, args), origin: 'approval', reason, message };
  return paused(namesOf(call), pause, metadata);
}

/** What is wrong with arguments that a filter has changed; undefined when they fit. */
export function checkChangedArgs(tool: CallableTool | undefined, event: HookEvent): string | undefined {
  if (event.phase !== 'before_execution' && event.phase !== 'approval') return undefined;
  // Those of a renamed call have to fit the other tool.
  if (tool === undefined || event.request.name !== tool.name) return undefined;
  const violations = tool.checkArgs(argsOf(event, noMetadata).value);
  return violations.length === 0
    ? undefined
    : `its arguments do not fit input_schema: ${violations.join('; ')}`;
}
