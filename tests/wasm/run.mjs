// node run.mjs SIM.wasm VECTORS.jsonl: every step through the page's module, every member of every decision compared.
import { readFileSync } from 'node:fs';

const ALGORITHMS = ['token-bucket', 'leaky-bucket', 'fixed-window', 'sliding-window-counter', 'sliding-window-log'];
const MEMBERS = ['allowed', 'remaining', 'retry_after_us', 'more_after_us', 'reset_after_us', 'delay_us'];
const CAPACITY = 3; // its place among the terms
const [, , modulePath, vectorsPath] = process.argv;
const module = new WebAssembly.Module(readFileSync(modulePath));
if (WebAssembly.Module.imports(module).length > 0) {
  console.log('the module needs imports:', WebAssembly.Module.imports(module));
  process.exit(1);
}
const law = new WebAssembly.Instance(module).exports;
const numbers = new Float64Array(law.memory.buffer, law.numbers_at(), MEMBERS.length);
const terms = new Float64Array(law.memory.buffer, law.terms_at(), CAPACITY + 1);
const burstOf = (rule, algorithm) => (algorithm.endsWith('bucket') ? rule.burst : 0);
const capacityOf = (rule, algorithm) =>
  rule.limit === 0 ? 0 : algorithm.endsWith('bucket') ? rule.burst || rule.limit : rule.limit;

let passed = 0;
let failed = 0;
readFileSync(vectorsPath, 'utf8').trimEnd().split('\n').forEach((line, lineIndex) => {
  const { rule, steps } = JSON.parse(line);
  const algorithm = rule.algorithm;
  let current = rule;
  const begun = law.begin(ALGORITHMS.indexOf(algorithm), rule.limit, rule.period_us, burstOf(rule, algorithm));
  if (begun !== 0) throw new Error(`line ${lineIndex + 1}: the rule is refused (${begun})`);
  steps.forEach((step, stepIndex) => {
    if (step.set) {
      current = step.set;
      if (law.change(current.limit, burstOf(current, algorithm)) !== 0) throw new Error('a changed rule is refused');
    }
    law.check(step.t, step.cost);
    const wrong = MEMBERS.filter((name, place) => numbers[place] !== Number(step[name]));
    if (terms[CAPACITY] !== capacityOf(current, algorithm)) wrong.push('limit');
    if (wrong.length === 0) {
      passed++;
    } else {
      failed++;
      if (failed <= 20) console.log(`line ${lineIndex + 1} step ${stepIndex + 1}: ${wrong.join(', ')} differ`);
    }
  });
});
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
