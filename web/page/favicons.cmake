# Writes the icons of the page: cmake -DOUT=DIR -P favicons.cmake
# favicon-0.svg … favicon-10.svg show tenths of a flow that are done; favicon-done.svg and favicon-failed.svg show its end.
set(head "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 32 32\">")

function(icon name body)
    file(WRITE ${OUT}/favicon-${name}.svg "${head}${body}</svg>\n")
endfunction()

foreach(tenth RANGE 10)
    math(EXPR percent "${tenth} * 10")
    icon(${tenth} "<circle cx=\"16\" cy=\"16\" r=\"12\" fill=\"none\" stroke=\"#b7bec3\" stroke-width=\"6\"/><circle cx=\"16\" cy=\"16\" r=\"12\" fill=\"none\" stroke=\"#3d75ce\" stroke-width=\"6\" pathLength=\"100\" stroke-dasharray=\"${percent} 100\" transform=\"rotate(-90 16 16)\"/>")
endforeach()
icon(done "<circle cx=\"16\" cy=\"16\" r=\"15\" fill=\"#71af8b\"/><path d=\"M9 16.5l5 5 9-11\" fill=\"none\" stroke=\"#000\" stroke-width=\"3.5\"/>")
icon(failed "<circle cx=\"16\" cy=\"16\" r=\"15\" fill=\"#c40b3c\"/><path d=\"M10.5 10.5l11 11m0-11l-11 11\" fill=\"none\" stroke=\"#fff\" stroke-width=\"3.5\"/>")
