import { rowsOf, section } from '../requirements/requirement.ts';

export const inbound = section(
  'guides/guard-claude-code.md',
  rowsOf`
    DS-INBOUND-01 | none | What hooks allow is left to the agent’s own rules, and approved by nobody
    DS-INBOUND-02 | none | A denial, and whatever fails, denies where the event can be denied
    DS-INBOUND-03 | none | A question, and a call that was changed, go to the person
    DS-INBOUND-06 | none | The settings that are exported run the guards from any folder, and are Claude Code’s
    DS-INBOUND-10 | none | A call that needs an approval is kept before anybody is told, and is refused, or waits, until a person has decided
  `,
);

export const inboundEvents = section(
  'reference/agents.md',
  rowsOf`
    DS-INBOUND-04 | none | A result is changed in its own form, and of one that is denied nothing but its form is left
    DS-INBOUND-05 | none | A prompt that would be changed is stopped with what may be sent, an answer is asked for once more
    DS-INBOUND-07 | none | Agentao’s own rules make a denial of each denial, change and fault at the events that can be denied
    DS-INBOUND-08 | none | chibi’s own rules make a block, a change or a text that is withheld of them, and its schema names the points
    DS-INBOUND-09 | none | PicoClaw is answered at each stage in time and in a length that it reads, and a fault denies
    DS-INBOUND-11 | none | An approval is for one call: the same tool, arguments, session and folder, once, whoever makes it at once
    DS-INBOUND-12 | none | A rejection, an expiry, a person who may not decide, hooks that deny, and a store that cannot keep it deny
  `,
);
