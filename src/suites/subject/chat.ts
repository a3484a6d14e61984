import { resolve } from 'node:path';
import type { Expression } from '../../base/expression/expression.ts';
import { isObject, Json } from '../../base/json/json.ts';
import type { Chat, Pipeline } from '../../pipelines/file/pipeline.ts';
import type { Subject } from '../file/model.ts';
import type { SubjectAdapter, SubjectContext } from './adapter.ts';
import { describeEvals, describeHooks, describeProviders, describeTools } from './identity.ts';
import { runUnattended } from './unattended-run.ts';

/** A chat runs as a pipeline with one step. Nothing is stored. */
export function openChatSubject(
  { chat }: Extract<Subject, { kind: 'chat' }>,
  context: SubjectContext,
): SubjectAdapter {
  const { config } = context;
  const { system: _system, messages: _messages, guardrails, ...settings } = chat;
  const guards = guardrails.map(({ params: _params, ...guard }) => guard);
  return {
    prepare: (scope) => {
      const system = chat.system?.evaluate(scope);
      const messages = chat.messages.evaluate(scope);
      const params = guardrails.map((guard) => guard.params.evaluate(scope));
      const fixed: Chat = {
        ...settings,
        messages: constant(messages),
        ...(system === undefined ? {} : { system: constant(system) }),
        guardrails: guards.map((guard, index) => ({ ...guard, params: constant(params[index]) })),
      };
      return {
        key: { system, messages, params },
        send: async (signal) => {
          const { result, ...output } = await runUnattended(toPipeline(config.file, fixed), noInput, {
            ...context,
            signal,
          });
          return { ...output, result, text: textOf(result) };
        },
      };
    },
    identify: () => ({
      settings,
      guards,
      // A guardrail may use a model of any provider.
      providers: describeProviders(
        context,
        guards.length > 0
          ? config.providers.map(({ id }) => id)
          : withFallbacks(config.providers, chat.provider),
      ),
      tools: describeTools(config, chat.tools),
      evals: describeEvals(
        config,
        guards.map(({ type }) => type),
      ),
      hooks: describeHooks(config),
    }),
  };
}

function withFallbacks(providers: SubjectContext['config']['providers'], id: string): readonly string[] {
  return [id, ...(providers.find((each) => each.id === id)?.fallback ?? [])];
}

const noInput = new Json('{}');

function constant(value: unknown): Expression {
  return { evaluate: () => value };
}

function toPipeline(config: string, chat: Chat): Pipeline {
  const place = { file: config, line: 1, column: 1 };
  return {
    file: resolve(config),
    name: 'subject',
    source: '',
    pipelines: {},
    checkInput: () => [],
    env: [],
    vars: [],
    finally: [],
    steps: [{ ...chat, kind: 'chat', id: 'subject', position: place, onError: { kind: 'stop' } }],
  };
}

function textOf(view: unknown): string {
  const text = isObject(view) ? view['text'] : '';
  return typeof text === 'string' ? text : '';
}
