import { compileExpressions } from '../../base/expression/expression.ts';
import { parseLossless, stringifyJson } from '../../base/json/json.ts';
import { matchesGlob } from '../../base/text/glob.ts';
import type { HookMatch } from '../../config/config.ts';
import { type HookEvent, type NativeEvent, phasesOf } from '../../contract/hook.ts';

/**
 * Whether a hook receives an event. Never throws: if the condition cannot be evaluated, the hook receives the event.
 */
export type EventMatch = (event: HookEvent) => boolean;

/** Compiles the conditions of an entry; all must hold. Throws ExpressionError. */
export function compileMatch({ tools, providers, models, when }: HookMatch): EventMatch {
  const condition = when === undefined ? undefined : compileExpressions(when, ['event']);
  const isNamed = (event: NativeEvent): boolean => {
    if (event.hook === 'tool') {
      return fits(tools, toolNamesOf(event));
    }
    if (event.hook !== 'provider') return true;
    return fits(providers, [event.request.provider_id]) && fits(models, [event.request.model]);
  };
  return (event) => {
    if (!isNative(event)) return true;
    if (!isNamed(event)) return false;
    if (condition === undefined) return true;
    try {
      // Skips the hook only if the condition is exactly false under every name of the tool.
      return namedScopesOf(event).some((scope) => condition.evaluate({ event: scope }) !== false);
    } catch {
      return true;
    }
  };
}

function toolNamesOf({ request: { name, aliases = [] } }: Extract<NativeEvent, { hook: 'tool' }>) {
  return [...new Set([name, ...aliases])];
}

function namedScopesOf(event: NativeEvent): readonly unknown[] {
  if (event.hook !== 'tool') return [scopeOf(event)];
  return toolNamesOf(event).map((name) => scopeOf({ ...event, request: { ...event.request, name } }));
}

function fits(patterns: readonly string[] | undefined, names: readonly string[]): boolean {
  return (
    patterns === undefined || patterns.some((pattern) => names.some((name) => matchesGlob(pattern, name)))
  );
}

function isNative(event: HookEvent): event is NativeEvent {
  return nativePhases.has(event.phase) && event.hook !== 'turn';
}

const nativePhases: ReadonlySet<string> = new Set(Object.values(phasesOf).flat());

function scopeOf(event: NativeEvent): unknown {
  return parseLossless(stringifyJson(event));
}
