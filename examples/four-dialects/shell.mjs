// Stands in for a shell, so that the example does no harm: it only says what it would run.
const { args } = JSON.parse(await new Response(process.stdin).text());
console.log(JSON.stringify({ result: `ran: ${args.command}` }));
