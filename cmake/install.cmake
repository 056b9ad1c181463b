# Rules for cmake --install and for the Debian package that cpack makes. The program itself generates the manual pages and
# completions, so they are built after it.
include(GNUInstallDirs)

set(generated ${CMAKE_BINARY_DIR}/share)
add_custom_command(OUTPUT ${generated}/man/jobflow.1
    COMMAND ${CMAKE_SOURCE_DIR}/scripts/manuals.sh $<TARGET_FILE:jobflow> ${generated}
    DEPENDS jobflow scripts/manuals.sh COMMENT "Manual pages and completions" VERBATIM)
add_custom_target(manuals ALL DEPENDS ${generated}/man/jobflow.1)

install(TARGETS jobflow RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${generated}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${generated}/jobflow.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME jobflow)
install(FILES ${generated}/jobflow.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions RENAME _jobflow)
install(FILES ${generated}/jobflow.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# The systemd units contain the installation path of the program, which is known only at installation.
install(CODE "set(bin \${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR})
    foreach(unit jobflow jobflow-user)
        configure_file(${CMAKE_SOURCE_DIR}/contrib/systemd/\${unit}.service.in ${generated}/\${unit}.service @ONLY)
    endforeach()")
install(FILES ${generated}/jobflow.service DESTINATION lib/systemd/system)
install(FILES ${generated}/jobflow-user.service DESTINATION lib/systemd/user RENAME jobflow.service)

install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "spec" EXCLUDE)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME jobflow)
set(CPACK_PACKAGE_VENDOR "the jobflow authors")
set(CPACK_PACKAGE_CONTACT "the jobflow authors <jobflow@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "run DAGs of batch jobs written as Kubernetes resources")
set(CPACK_PACKAGE_DESCRIPTION "Runs JobFlow, JobTemplate and Job resources of the Volcano API groups on one machine, as processes:
one pipeline to its end like make, or a daemon that kubectl talks to.")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Libraries loaded with dlopen; dpkg-shlibdeps cannot detect them.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libcurl4, passwd")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libigraph3")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "kubernetes-client, openssh-server, openmpi-bin")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${CMAKE_SOURCE_DIR}/contrib/debian/postinst;${CMAKE_SOURCE_DIR}/contrib/debian/prerm;${CMAKE_SOURCE_DIR}/contrib/debian/postrm")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
