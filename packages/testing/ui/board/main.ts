import { mount } from "./Board.tsx"

// The heading is shown until the script runs.
mount(document.getElementById("page")!)
