/** A generator of numbers from 0 to 1 that is the same in every run. */
const randomOf = (seed: number) => () => {
  seed = (seed * 1_664_525 + 1_013_904_223) % 2 ** 32
  return seed / 2 ** 32
}

const scripts = [
  "<script>globalThis.hostile=1</script>",
  "<img src=x onerror=globalThis.hostile=1>",
  "<svg onload=globalThis.hostile=1>",
  "<svg><script>globalThis.hostile=1</script></svg>",
  "<iframe srcdoc='<script>parent.hostile=1</script>'></iframe>",
  "<math><mtext><style><img src=x onerror=globalThis.hostile=1>",
  '"><img src=x onerror=globalThis.hostile=1>',
  "' onmouseover='globalThis.hostile=1",
  "</textarea><script>globalThis.hostile=1</script>",
  "</style><style>*{display:none!important}</style>",
  "<style>body{position:fixed;left:9999px}</style>",
  "<base href=https://attacker.example/>",
  "<meta http-equiv=refresh content='0;url=https://attacker.example'>",
  "<form action=https://attacker.example><button>",
  "[click](javascript:globalThis.hostile=1)",
  "[click](data:text/html,<script>opener.hostile=1</script>)",
  "[click](vbscript:hostile)",
  '[x](https://a.example/"onmouseover=globalThis.hostile=1)',
  "<a href='javascript:globalThis.hostile=1'>a</a>",
  "<a href='JaVaScRiPt:globalThis.hostile=1'>a</a>",
  "<b style='position:fixed;inset:0'>b</b>",
  "{{constructor.constructor('globalThis.hostile=1')()}}",
  "${globalThis.hostile=1}",
  "__proto__",
  "constructor",
  "%3Cscript%3Ehostile%3C/script%3E",
  "../../../../etc/passwd",
  "file.png\u202Egnp.exe",
  "\u0000\u0001\u0008\u001B[31m",
  "&lt;script&gt;globalThis.hostile=1&lt;/script&gt;"
]

const shapes: ReadonlyArray<(random: () => number) => string> = [
  (random) => "W".repeat(1 + Math.floor(random() * 3000)),
  (random) => "a\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308".repeat(1 + Math.floor(random() * 60)),
  (random) => `e${"\u0335\u0489\u0340\u0316".repeat(5 + Math.floor(random() * 120))}`,
  (random) => "\n".repeat(Math.floor(random() * 60)) + "deep",
  (random) => "\u202E\u2066\u2067\u2068reversed".repeat(1 + Math.floor(random() * 20)),
  (random) => "\u200B\u200D\uFEFF\u2060".repeat(1 + Math.floor(random() * 200)) + ".",
  (random) => "\uFDFD".repeat(1 + Math.floor(random() * 40)),
  (random) => "\u{12031}\u{1242B}".repeat(1 + Math.floor(random() * 40)),
  (random) => "\u{1F468}\u200D\u{1F469}\u200D\u{1F467}".repeat(1 + Math.floor(random() * 60)),
  (random) => "\uD800x\uDC00".repeat(1 + Math.floor(random() * 9)),
  (random) => "\t \u3000\u00A0".repeat(1 + Math.floor(random() * 300)) + "x",
  (random) => "مرحبا hello שלום ".repeat(1 + Math.floor(random() * 80)),
  (random) => `https://example.com/${"path/".repeat(Math.floor(random() * 400))}`,
  (random) => "> ".repeat(1 + Math.floor(random() * 300)) + "quoted",
  (random) => `${"**".repeat(Math.floor(random() * 90))}bold${"~~".repeat(Math.floor(random() * 90))}`,
  (random) => `# ${"heading ".repeat(1 + Math.floor(random() * 200))}`
]

/** Texts that try to run a script or to break a layout, the same in every run. Each has at most 3,900 characters. */
export const hostileTexts = (count: number): ReadonlyArray<string> => {
  const random = randomOf(20_261_122)
  const pick = <A>(list: ReadonlyArray<A>): A => list[Math.floor(random() * list.length)]
  return Array.from({ length: count }, (_, index) => {
    const script = scripts[index % scripts.length]
    const shape = pick(shapes)(random)
    const parts = [[script], [shape], [shape, script], [script, shape, pick(scripts)]][index % 4]
    const text = parts.join(random() < 0.5 ? " " : "").slice(0, 3900)
    return text.trim() === "" ? "empty" : text
  })
}
