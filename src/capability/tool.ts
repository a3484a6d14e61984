import { failed, type ToolCall, type ToolOutcome } from '../contract/tool.ts';
import { type Fault, toFault } from '../errors.ts';
import type { QueueClock } from '../time/stopwatch.ts';
import { type Invocation, invoke, type Port, trackCall } from './invoke.ts';

/**
 * Runs a tool's process once. A fault of any kind is a failed outcome; never rejects. `tellable` is what events may
 * say of a failure, which no filter has seen yet.
 */
export async function runTool(
  port: Port<ToolCall, ToolOutcome>,
  invocation: Invocation<ToolCall>,
  toReportable: (error: Fault) => Fault = (error) => error,
): Promise<ToolOutcome> {
  // Nobody would read how long it took.
  if (port.emit.hears?.('call.started') === false) return await ask(port, invocation);
  const call = trackCall(port.emit, 'tool', { name: port.binding.name, call: invocation.call });
  const outcome = await ask(port, invocation, call.clock);
  call.finish({
    status: outcome.status,
    error: outcome.status === 'failed' ? toReportable(outcome.error) : undefined,
  });
  return outcome;
}

async function ask(
  port: Port<ToolCall, ToolOutcome>,
  invocation: Invocation<ToolCall>,
  clock?: QueueClock,
): Promise<ToolOutcome> {
  try {
    return await invoke(port, invocation, clock);
  } catch (error) {
    return failed(toFault(error));
  }
}
