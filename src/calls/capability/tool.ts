import type { Fault } from '../../base/errors.ts';
import { failed, type ToolCall, type ToolOutcome } from '../../contract/tool.ts';
import { type Invocation, invokeOr, type Port, trackCall } from './invoke.ts';

/**
 * Runs a tool's process once. A fault of any kind is a failed outcome; never rejects. `tellable` is what events may
 * say of a failure, which no filter has seen yet.
 */
export function runTool(
  port: Port<ToolCall, ToolOutcome>,
  invocation: Invocation<ToolCall>,
  toReportable: (error: Fault) => Fault = (error) => error,
): Promise<ToolOutcome> {
  // Nobody would read how long it took.
  if (port.emit.hears?.('call.started') === false) return invokeOr(port, invocation, { onFault: failed });
  return runTracked(port, invocation, toReportable);
}

async function runTracked(
  port: Port<ToolCall, ToolOutcome>,
  invocation: Invocation<ToolCall>,
  toReportable: (error: Fault) => Fault,
): Promise<ToolOutcome> {
  const { clock, finish } = trackCall(port.emit, 'tool', {
    name: port.binding.name,
    call: invocation.call,
  });
  const outcome = await invokeOr(port, invocation, { onFault: failed, clock });
  finish({
    status: outcome.status,
    error: outcome.status === 'failed' ? toReportable(outcome.error) : undefined,
  });
  return outcome;
}
