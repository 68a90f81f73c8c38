const paths = {
  send: "M3 11.5 21 3l-6 18-3.5-7.5z",
  attach: "M20 11l-8.5 8.5a5 5 0 0 1-7-7L13 4a3.4 3.4 0 0 1 5 5l-8.5 8.4a1.6 1.6 0 0 1-2.4-2.3L15 7.4",
  back: "M15 5l-7 7 7 7",
  close: "M6 6l12 12M18 6L6 18",
  more: "M12 5.5v.01M12 12v.01M12 18.5v.01",
  plus: "M12 5v14M5 12h14",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20a7.5 7.5 0 0 1 15 0",
  place: "M12 21s7-6.2 7-11.5a7 7 0 1 0-14 0C5 14.800 12 21 12 21zM12 12a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5z",
  split: "M4 5h16v14H4zM12 5v14",
  tools: "M4 6h16M4 12h16M4 18h16M9 4v4M15 10v4M7 16v4",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  theme: "M12 3a9 9 0 1 0 9 9 7 7 0 0 1-9-9z",
  pin: "M9 4h6l-1 6 4 4H6l4-4zM12 14v6",
  link: "M14 5h5v5M19 5l-9 9M17 14v5H5V7h5",
  file: "M6 3h8l5 5v13H6zM14 3v5h5",
  play: "M8 5l11 7-11 7z",
  down: "M6 9l6 6 6-6",
  chats: "M4 5h16v11H9l-5 4z"
} as const

export type IconName = keyof typeof paths

export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class={name === "more" ? "icon dots" : "icon"} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d={paths[name]} />
  </svg>
)
